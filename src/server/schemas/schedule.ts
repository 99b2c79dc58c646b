import { z } from 'zod'
import { durationInput, id, instant, instantInput, json, label, nextPageToken, text } from './basics.js'
import { PreviewedOccurrence, Timing, TimingInput } from './timing.js'

const SCHEDULE_STATES = ['active', 'paused', 'broken', 'finished'] as const
const SKIP_REASONS = [
  'missed',
  'paused',
  'overlap',
  'operator',
  'gate',
  'broken',
  'expired',
  'no_scope',
] as const
export const RUN_STATES = [
  'pending',
  'running',
  'retrying',
  'succeeded',
  'failed',
  'cancelled',
  'skipped',
] as const

const scheduleState = z.enum(SCHEDULE_STATES)
const catchUp = z.enum(['latest', 'none', 'all'])
const overlap = z.enum(['allow', 'skip', 'queue', 'replace'])
const INT4 = 2_147_483_647

/** All fields of a definition but the two that it must have. */
const optionalFields = {
  input: json.exactOptional(),
  queue: label.exactOptional().describe('The queue of its runs. By default `default`.'),
  priority: z
    .int()
    .min(-INT4)
    .max(INT4)
    .exactOptional()
    .describe('Higher runs first within its queue. By default 0.'),
  group: label.exactOptional().describe('The label by which schedules are found and paused together.'),
  scopes: z
    .array(label)
    .min(1)
    .max(10_000)
    .exactOptional()
    .describe('Parallel lanes, one run for each. By default what the job gives, or `global`.'),
  description: text(10_000).exactOptional().describe('For people.'),
  metadata: z.record(z.string(), json).exactOptional().describe('An object of your own.'),
  startAt: instantInput.exactOptional().describe('The earliest plan time, inclusive. By default now.'),
  endAt: instantInput.exactOptional().describe('The end of the plan times, exclusive.'),
  limit: z
    .int()
    .min(1)
    .max(100_000)
    .exactOptional()
    .describe('How many plan times there are, whatever becomes of them.'),
  catchUp: catchUp
    .exactOptional()
    .describe('Plan times that passed undecided: run the newest (`latest`, the default), none, or all.'),
  catchUpWindow: durationInput.exactOptional().describe('Older ones are not caught up.'),
  catchUpLimit: z
    .int()
    .min(1)
    .max(10_000)
    .exactOptional()
    .describe('How many `all` runs in one tick. By default 100.'),
  grace: durationInput.exactOptional().describe('Up to here a plan time is on time. By default `1 minute`.'),
  overlap: overlap
    .exactOptional()
    .describe(
      'While an earlier run is open: run both (`allow`, the default), skip the new one, queue one, or replace the open one.',
    ),
  delay: durationInput.exactOptional().describe('Runs may be claimed so long after their plan times.'),
  jitter: durationInput.exactOptional().describe('Spreads runs over this span.'),
  breaker: z
    .strictObject({
      failures: z.int().min(1).max(10_000),
      cooldown: durationInput.exactOptional().describe('Then it is tried again.'),
    })
    .exactOptional()
    .describe('Takes it out after so many failures in a row.'),
  deleteWhenDone: z.boolean().exactOptional().describe('Whether it is deleted when no plan time is left.'),
}

export const ScheduleDefinition = z
  .strictObject({
    job: label.describe('The name of the job.'),
    timing: TimingInput,
    ...optionalFields,
    paused: z.boolean().exactOptional().describe('Create it paused. It says nothing of one that exists.'),
  })
  .describe('What a schedule holds; what is left out takes its default.')
  .meta({ id: 'ScheduleDefinition' })

type OrNull<Field> =
  Field extends z.ZodExactOptional<infer Inner extends z.ZodType>
    ? z.ZodExactOptional<z.ZodNullable<Inner>>
    : never

/** The same fields, each of which may also be null. */
function orNull<Fields extends Record<string, z.ZodExactOptional<z.ZodType>>>(fields: Fields) {
  const entries = Object.entries(fields).map(([name, field]) => [
    name,
    field.unwrap().nullable().exactOptional(),
  ])
  return Object.fromEntries(entries) as { [Name in keyof Fields]: OrNull<Fields[Name]> }
}

export const SchedulePatch = z
  .strictObject({
    job: label.exactOptional(),
    timing: TimingInput.exactOptional(),
    ...orNull(optionalFields),
  })
  .describe('Fields to replace; null takes an optional one away.')
  .meta({ id: 'SchedulePatch' })

export const Schedule = z
  .object({
    id,
    name: z.string(),
    version: z.int().describe('Bumped by every edit; the ETag.'),
    state: scheduleState,
    stateNote: z
      .object({
        reason: z.string().nullable(),
        by: z.string().nullable(),
        since: instant,
        until: instant.nullable(),
      })
      .nullable()
      .describe('Why it is not active; null while it is.'),
    nextAt: instant.nullable().describe('The next plan time that is not yet decided.'),
    job: z.string(),
    input: json,
    queue: z.string(),
    priority: z.int(),
    group: z.string().nullable(),
    scopes: z.array(z.string()).nullable().describe('Null stands for what the provider of the job gives.'),
    timing: Timing,
    description: z.string().nullable(),
    metadata: z.record(z.string(), json).nullable(),
    startAt: instant,
    endAt: instant.nullable(),
    limit: z.int().nullable(),
    catchUp,
    catchUpWindow: z.string().nullable(),
    catchUpLimit: z.int(),
    grace: z.string(),
    overlap,
    delay: z.string(),
    jitter: z.string(),
    breaker: z.object({ failures: z.int(), cooldown: z.string().nullable() }).nullable(),
    deleteWhenDone: z.boolean(),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'Schedule' })

const RecentOccurrence = z
  .object({
    firstPlanTime: instant.describe('The first of those that were skipped together; else the same.'),
    planTime: instant,
    scope: z.string(),
    disposition: z.enum(['run', 'skipped']),
    runId: id.nullable(),
    runState: z.enum(RUN_STATES).nullable(),
    reason: z.enum(SKIP_REASONS).nullable(),
  })
  .describe('What became of a plan time, or of several in a row that were skipped for one reason.')
  .meta({ id: 'RecentOccurrence' })

export const FoundSchedule = Schedule.extend({
  recent: z
    .array(RecentOccurrence)
    .exactOptional()
    .describe('What became of its last plan times, oldest first; where `recent` asks for it.'),
}).meta({ id: 'FoundSchedule' })

/** By which schedules are listed. */
export const filterFields = {
  state: scheduleState.exactOptional(),
  group: label.exactOptional(),
  job: label.exactOptional(),
  q: z
    .string()
    .min(1)
    .max(200)
    .exactOptional()
    .describe('Words, or beginnings of words, of name, job, group and description.'),
}

export const ScheduleFilter = z
  .strictObject(filterFields)
  .describe('Which schedules, as the list of them finds them; an empty one finds all.')
  .meta({ id: 'ScheduleFilter' })

export const BulkReport = z
  .object({
    changed: z.int().describe('How many it changed or, with `dryRun`, would change.'),
    dryRun: z.boolean(),
    nextPageToken,
  })
  .meta({ id: 'BulkReport' })

export const ScheduleDiff = z
  .object({
    removed: z.array(z.string()).describe('Plan times that there would be no more.'),
    moved: z.array(z.object({ from: z.string(), to: z.string() })),
    added: z.array(z.string()).describe('Plan times that there would be besides.'),
    kept: z.array(z.string()).describe('Plan times that stay.'),
    fields: z.array(z.string()).describe('Whose content differs.'),
  })
  .meta({ id: 'ScheduleDiff' })

export const SchedulePreview = z
  .object({
    description: z.string(),
    occurrences: z.array(PreviewedOccurrence.extend({ skipped: z.boolean() })),
  })
  .meta({ id: 'SchedulePreview' })

export const Occurrence = z
  .object({
    planTime: instant,
    scope: z.string(),
    disposition: z.enum(['run', 'skipped', 'upcoming']),
    runId: id.nullable(),
    runState: z.enum(RUN_STATES).nullable(),
    reason: z.enum(SKIP_REASONS).nullable().describe('Why it was skipped.'),
    note: z.string().nullable().describe('What daylight saving did to it.'),
  })
  .meta({ id: 'Occurrence' })

export const Timeline = z
  .object({
    now: instant.describe('By the clock of the database.'),
    occurrences: z.array(Occurrence).describe('Oldest first.'),
    hasEarlier: z.boolean(),
    hasLater: z.boolean(),
  })
  .meta({ id: 'Timeline' })

export const HistoryEntry = z
  .object({
    at: instant.describe(
      'Its place in the list: the plan time, the last one of a range, or when it was asked for.',
    ),
    scope: z.string(),
    firstPlanTime: instant.nullable(),
    lastPlanTime: instant.nullable(),
    run: z
      .object({
        id,
        state: z.enum(RUN_STATES),
        trigger: z.enum(['scheduled', 'manual', 'backfill', 'direct']),
        attempt: z.int(),
        totals: z.record(z.string(), z.number()).nullable(),
        error: z.object({ code: z.string(), message: z.string() }).nullable(),
        startedAt: instant.nullable(),
        finishedAt: instant.nullable(),
      })
      .nullable(),
    reason: z.enum(SKIP_REASONS).nullable(),
  })
  .describe('One run, or one range of plan times that were skipped for one reason.')
  .meta({ id: 'HistoryEntry' })

export const ScheduleChange = z
  .object({
    name: z.string().nullable(),
    version: z.int(),
    action: z.string(),
    actor: z.string().nullable(),
    before: json,
    after: json,
    boundary: instant.describe('Plan times up to here met what was before.'),
    changedAt: instant,
  })
  .meta({ id: 'ScheduleChange' })
