import { z } from 'zod'
import type { Enqueued as RunAsked } from '../../client/enqueueing.js'
import type { Patch } from '../../client/schedules.js'
import { requestInvalid } from '../checking.js'
import { previewOf } from '../previewing.js'
import { Answer, routesOf, spec } from '../route.js'
import { durationInput, id, instant, instantInput, json, label, pageToken, text } from '../schemas/basics.js'
import { Enqueued } from '../schemas/run.js'
import { BulkReport, Schedule, ScheduleDiff, ScheduleFilter, SchedulePatch } from '../schemas/schedule.js'
import { PreviewedOccurrence, TimingInput } from '../schemas/timing.js'
import { answerSchedule, named } from './schedules.js'

const tag = 'Schedules'
const reason = text(1_000).exactOptional().describe('Why, for whoever finds it.')
const pause = {
  reason,
  until: z
    .union([instantInput, z.strictObject({ in: durationInput })])
    .exactOptional()
    .describe('When it resumes by itself: an instant with its offset, or `{ "in": "2 hours" }`.'),
}
const onePlanTime = z.strictObject({ planTime: instantInput })
const count = z.int().min(1).max(1_000).exactOptional()

/** How many schedules a request goes through at most: some seconds' work. */
const PORTION = 2_000
const IN_PORTIONS =
  'With `dryRun` it counts, and changes nothing. A request goes through some thousands: repeat it with its `nextPageToken` until that is null.'
const portion = { dryRun: z.boolean().exactOptional(), pageToken }

const bulk = {
  method: 'post',
  role: 'operator',
  groups: 'own',
  tag,
  answer: BulkReport,
  problems: ['option_invalid'],
} as const

const verb = { method: 'post', role: 'operator', groups: 'own', tag, params: named } as const

const ofOnePlanTime = {
  ...verb,
  body: onePlanTime,
  answer: null,
  problems: ['schedule_not_found', 'already_decided', 'not_a_plan_time', 'option_invalid', 'provider_failed'],
} as const

export const VERB_SPECS = {
  pauseSchedule: spec({
    ...verb,
    path: '/schedules/{name}/pause',
    summary: 'Plan nothing until it is resumed',
    description: 'Runs that exist go on. Its plan times are recorded as `paused`.',
    body: z.strictObject(pause).optional(),
    headers: ['If-Match'],
    answer: Schedule,
    problems: ['schedule_not_found', 'version_conflict', 'option_invalid'],
  }),
  resumeSchedule: spec({
    ...verb,
    path: '/schedules/{name}/resume',
    summary: 'Go on with the next plan time to come',
    headers: ['If-Match'],
    answer: Schedule,
    problems: [
      'schedule_not_found',
      'version_conflict',
      'gate_closed',
      'gate_unavailable',
      'provider_failed',
    ],
  }),
  triggerSchedule: spec({
    ...verb,
    path: '/schedules/{name}/trigger',
    summary: 'Run it now',
    description: 'The same `Idempotency-Key` (or `key`) again gives the same run.',
    body: z
      .strictObject({
        key: text(1_000).exactOptional(),
        input: json.exactOptional().describe('Instead of the input of the schedule.'),
        scope: label.exactOptional(),
      })
      .optional(),
    headers: ['Idempotency-Key'],
    answer: Enqueued,
    alsoAnswers: { 201: 'It is new.' },
    problems: ['schedule_not_found', 'run_open', 'input_invalid', 'option_invalid', 'provider_failed'],
  }),
  skipOccurrence: spec({
    ...ofOnePlanTime,
    path: '/schedules/{name}/skip',
    summary: 'Skip one plan time to come',
  }),
  unskipOccurrence: spec({
    ...ofOnePlanTime,
    path: '/schedules/{name}/unskip',
    summary: 'Take the wish to skip one back',
  }),
  backfillSchedule: spec({
    ...verb,
    path: '/schedules/{name}/backfill',
    summary: 'Run plan times of the past that were skipped',
    description: 'At most 10,000 runs at once. With `dryRun` it says what would run, and changes nothing.',
    body: z.strictObject({
      from: instantInput.describe('Inclusive.'),
      to: instantInput.describe('Exclusive.'),
      dryRun: z.boolean().exactOptional(),
    }),
    answer: z.object({ planTimes: z.array(instant), runIds: z.array(id), dryRun: z.boolean() }),
    problems: ['schedule_not_found', 'range_too_large', 'schedule_invalid', 'option_invalid'],
  }),
  renameSchedule: spec({
    ...verb,
    role: 'admin',
    path: '/schedules/{name}/rename',
    summary: 'Give it another name; id and history stay',
    body: z.strictObject({ to: label }),
    headers: ['If-Match'],
    answer: Schedule,
    problems: [
      'schedule_not_found',
      'schedule_exists',
      'schedule_invalid',
      'version_conflict',
      'provider_failed',
    ],
  }),
  diffSchedule: spec({
    ...verb,
    role: 'viewer',
    path: '/schedules/{name}/diff',
    summary: 'What an edit would do to the next plan times',
    body: z.strictObject({ fields: SchedulePatch, count }),
    answer: ScheduleDiff,
    problems: ['schedule_not_found', 'schedule_invalid', 'timing_invalid', 'input_invalid', 'unknown_job'],
  }),
  pauseSchedules: spec({
    ...bulk,
    path: '/schedules/pause',
    summary: 'Pause all schedules that a filter finds',
    description: `Those that are paused or finished stay as they are. ${IN_PORTIONS}`,
    body: z.strictObject({ filter: ScheduleFilter, ...pause, ...portion }),
  }),
  resumeSchedules: spec({
    ...bulk,
    path: '/schedules/resume',
    summary: 'Resume all schedules that a filter finds',
    description: `Those whose gate is closed stay as they are, and with \`dryRun\` no gate is asked. ${IN_PORTIONS}`,
    body: z.strictObject({ filter: ScheduleFilter, ...portion }),
  }),
  pauseGroup: spec({
    ...verb,
    path: '/groups/{group}/pause',
    tag: 'Groups',
    summary: 'Pause all schedules of a group',
    params: z.object({ group: label }),
    body: z.strictObject(pause).optional(),
    answer: z.object({ changed: z.int() }),
    problems: ['option_invalid'],
  }),
  resumeGroup: spec({
    ...verb,
    path: '/groups/{group}/resume',
    tag: 'Groups',
    summary: 'Resume all schedules of a group',
    description: 'Those whose gate is closed stay as they are.',
    params: z.object({ group: label }),
    answer: z.object({ changed: z.int() }),
    problems: ['option_invalid'],
  }),
  previewTiming: spec({
    method: 'post',
    path: '/preview',
    role: 'viewer',
    groups: 'own',
    tag: 'Timings',
    summary: 'The plan times of a timing that is not kept',
    body: z.strictObject({
      timing: TimingInput,
      after: instantInput.exactOptional(),
      count,
      startAt: instantInput.exactOptional(),
      endAt: instantInput.exactOptional(),
      limit: z.int().min(1).max(100_000).exactOptional(),
    }),
    answer: z.object({ description: z.string(), occurrences: z.array(PreviewedOccurrence) }),
    problems: ['timing_invalid', 'option_invalid'],
  }),
}

/** 201 for a run that is new. */
export const answerEnqueued = (enqueued: RunAsked) =>
  new Answer(enqueued, { status: enqueued.created ? 201 : 200 })

/** A key may be given twice if it is the same. */
export function keyOf(header: string | undefined, field: string | undefined): { key?: string } {
  if (header !== undefined && field !== undefined && header !== field) {
    throw requestInvalid([
      { field: 'key', message: 'differs from the header Idempotency-Key: give one of them' },
    ])
  }
  const key = header ?? field
  return key === undefined ? {} : { key }
}

export const verbRoutes = routesOf(VERB_SPECS, {
  pauseSchedule: async ({ schedules, params, body, edit }) =>
    answerSchedule(await schedules.pause(params.name, { ...body, ...edit })),
  resumeSchedule: async ({ schedules, params, edit }) =>
    answerSchedule(await schedules.resume(params.name, edit)),
  async triggerSchedule({ schedules, params, body, actor, idempotencyKey }) {
    const options = { ...body, ...keyOf(idempotencyKey, body?.key), actor }
    return answerEnqueued(await schedules.triggerRun(params.name, options))
  },
  skipOccurrence: ({ schedules, params, body, actor }) =>
    schedules.skip(params.name, body.planTime, { actor }),
  unskipOccurrence: ({ schedules, params, body, actor }) =>
    schedules.unskip(params.name, body.planTime, { actor }),
  backfillSchedule: ({ schedules, params, body, actor }) =>
    schedules.backfill(params.name, { ...body, actor }),
  renameSchedule: async ({ schedules, params, body, edit }) =>
    answerSchedule(await schedules.rename(params.name, body.to, edit)),
  async diffSchedule({ schedules, params, body: { fields, count: asked }, redacts }) {
    const diff = await schedules.diff(
      params.name,
      fields as Patch,
      asked === undefined ? {} : { count: asked },
    )
    // Else what is hidden could be guessed at: where it is right, it does not differ.
    const hidden = ['input', 'metadata'].filter((name) => redacts && name in fields)
    return { ...diff, fields: [...new Set([...diff.fields, ...hidden])] }
  },
  pauseSchedules: ({ schedules, body: { filter, ...options }, actor }) =>
    schedules.pauseAll(filter, { ...options, limit: PORTION, actor }),
  resumeSchedules: ({ schedules, body: { filter, ...options }, actor }) =>
    schedules.resumeAll(filter, { ...options, limit: PORTION, actor }),
  pauseGroup: async ({ schedules, params, body, actor }) => ({
    changed: await schedules.pauseGroup(params.group, { ...body, actor }),
  }),
  resumeGroup: async ({ schedules, params, actor }) => ({
    changed: await schedules.resumeGroup(params.group, { actor }),
  }),
  previewTiming: ({ body }) => previewOf(body),
})
