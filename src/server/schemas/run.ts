import { z } from 'zod'
import { durationInput, id, instant, instantInput, json, label, text } from './basics.js'
import { RUN_STATES } from './schedule.js'
import { Timing } from './timing.js'

export const RUN_TRIGGERS = ['scheduled', 'manual', 'backfill', 'direct'] as const
const INT4 = 2_147_483_647

export const Run = z
  .object({
    id,
    state: z.enum(RUN_STATES),
    job: z.string(),
    input: json,
    queue: z.string(),
    priority: z.int(),
    trigger: z.enum(RUN_TRIGGERS),
    key: z.string().nullable(),
    scheduleId: id.nullable(),
    schedule: z
      .string()
      .nullable()
      .describe('The name of its schedule now; null where it has none, or that is deleted.'),
    scheduleVersion: z.int().nullable(),
    scope: z.string().nullable(),
    planTime: instant.nullable().describe('The nominal instant of the occurrence; it never changes.'),
    eligibleAt: instant.describe('When it may be claimed: at first, or for its next attempt.'),
    attempt: z.int().describe('The number of the newest attempt; 0 before the first.'),
    workerId: z.string().nullable(),
    result: json,
    progress: z.object({ fraction: z.number(), note: z.string().nullable() }).nullable(),
    totals: z.record(z.string(), z.number()).nullable(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    createdAt: instant,
    startedAt: instant.nullable(),
    finishedAt: instant.nullable(),
  })
  .meta({ id: 'Run' })

const Attempt = z
  .object({
    number: z.int(),
    workerId: z.string().nullable(),
    startedAt: instant.nullable(),
    finishedAt: instant,
    error: z.object({ code: z.string(), message: z.string(), stack: z.string().nullable() }),
  })
  .describe('One failed try.')
  .meta({ id: 'Attempt' })

/** How a direct run is treated. */
const terms = {
  at: z
    .union([instantInput, z.strictObject({ in: durationInput })])
    .exactOptional()
    .describe(
      'The earliest time at which it may run: an instant with its offset, or `{ "in": "5 minutes" }`.',
    ),
  queue: label.exactOptional(),
  priority: z.int().min(-INT4).max(INT4).exactOptional(),
  key: text(1_000)
    .exactOptional()
    .describe('Asking again for the same job under the same key gives the run that there is.'),
}

export const EnqueueRequest = z
  .strictObject({ job: label, input: json.exactOptional(), ...terms })
  .meta({ id: 'EnqueueRequest' })

export const EnqueueManyRequest = z
  .strictObject({
    job: label,
    items: z.array(z.strictObject({ input: json.exactOptional(), ...terms })).max(10_000),
  })
  .meta({ id: 'EnqueueManyRequest' })

export const Enqueued = z
  .object({ id, created: z.boolean().describe('False where the key had its run already.') })
  .meta({ id: 'Enqueued' })

export const RetryFilter = z
  .strictObject({
    job: label.exactOptional(),
    queue: label.exactOptional(),
    schedule: label.exactOptional(),
    trigger: z.enum(RUN_TRIGGERS).exactOptional(),
    finishedAfter: instantInput.exactOptional(),
    finishedBefore: instantInput.exactOptional(),
    plannedAfter: instantInput
      .exactOptional()
      .describe('By plan time; of a run that has none by when it was asked for.'),
    plannedBefore: instantInput.exactOptional(),
  })
  .describe('Which of the failed runs; all of them without a filter.')
  .meta({ id: 'RetryFilter' })

export const RetryReport = z
  .object({
    retried: z.int(),
    blocked: z.int().describe('Those that must wait, because another run of their schedule is open.'),
  })
  .meta({ id: 'RetryReport' })

export const RunDetails = z
  .object({
    run: Run,
    attempts: z.array(Attempt).describe('Each failed attempt, oldest first.'),
    schedule: z.string().nullable().describe('The name of its schedule now.'),
    snapshot: z
      .object({
        name: z.string(),
        version: z.int(),
        job: z.string(),
        input: json,
        queue: z.string(),
        priority: z.int(),
        group: z.string().nullable(),
        scopes: z.array(z.string()).nullable(),
        timing: Timing,
        policies: json,
        description: z.string().nullable(),
        metadata: z.record(z.string(), json).nullable(),
        startAt: z.string().nullable(),
        endAt: z.string().nullable(),
        limit: z.int().nullable(),
      })
      .nullable()
      .describe('What the schedule was when it asked for this run.'),
    drifted: z
      .array(z.string())
      .nullable()
      .describe('Fields of the snapshot that the schedule has changed since.'),
    lease: z.object({ workerId: id, expiresAt: instant }).nullable().describe('While it is running.'),
  })
  .meta({ id: 'RunDetails' })
