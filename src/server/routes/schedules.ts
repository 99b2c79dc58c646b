import { z } from 'zod'
import type { Patch, Schedules } from '../../client/schedules.js'
import { type ErrorCode, EscapementError } from '../../errors.js'
import type { ScheduleDefinition as Definition, Schedule as KeptSchedule } from '../../schedules/schedule.js'
import { boundedPage, findRuns, pageOf, pageOfEntries } from '../bounded-page.js'
import { Answer, routesOf, spec } from '../route.js'
import { instantInput, label, limitOf, nextPageToken, pageToken, wholeNumber } from '../schemas/basics.js'
import { Run } from '../schemas/run.js'
import {
  FoundSchedule,
  filterFields,
  HistoryEntry,
  Occurrence,
  Schedule,
  ScheduleChange,
  ScheduleDefinition,
  SchedulePatch,
  SchedulePreview,
  Timeline,
} from '../schemas/schedule.js'

export const named = z.object({ name: label.describe('The name of the schedule.') })
const tag = 'Schedules'
const MAX_PAGE = 1_000
const around = wholeNumber(0, 500).default(30)

const read = { method: 'get', role: 'viewer', groups: 'own', tag, params: named } as const
const edit = { role: 'admin', groups: 'own', tag, params: named } as const

export const SCHEDULE_SPECS = {
  listSchedules: spec({
    method: 'get',
    path: '/schedules',
    role: 'viewer',
    groups: 'own',
    tag,
    summary: 'List schedules by name',
    query: z.strictObject({
      ...filterFields,
      recent: wholeNumber(1, 100)
        .exactOptional()
        .describe('With what became of the last so many plan times of each.'),
      limit: limitOf(MAX_PAGE),
      pageToken,
    }),
    answer: z.object({ schedules: z.array(FoundSchedule), nextPageToken }),
    problems: ['option_invalid'],
  }),
  putSchedule: spec({
    ...edit,
    method: 'put',
    path: '/schedules/{name}',
    summary: 'Create a schedule, or replace what it holds',
    description:
      'Putting the same content again changes nothing. `If-Match` with the ETag refuses to overwrite an edit that came between; ' +
      '`If-None-Match: *` only creates.',
    body: ScheduleDefinition,
    headers: ['If-Match', 'If-None-Match'],
    answer: Schedule,
    alsoAnswers: { 201: 'It is new.' },
    problems: [
      'schedule_invalid',
      'timing_invalid',
      'input_invalid',
      'unknown_job',
      'gate_closed',
      'gate_unavailable',
      'schedule_exists',
      'version_conflict',
      'provider_failed',
    ],
  }),
  getSchedule: spec({
    ...read,
    path: '/schedules/{name}',
    summary: 'Read one schedule',
    answer: Schedule,
    problems: ['schedule_not_found'],
  }),
  patchSchedule: spec({
    ...edit,
    method: 'patch',
    path: '/schedules/{name}',
    summary: 'Replace single fields',
    body: SchedulePatch,
    headers: ['If-Match'],
    answer: Schedule,
    problems: [
      'schedule_not_found',
      'schedule_invalid',
      'timing_invalid',
      'input_invalid',
      'unknown_job',
      'gate_closed',
      'gate_unavailable',
      'version_conflict',
      'provider_failed',
    ],
  }),
  deleteSchedule: spec({
    ...edit,
    method: 'delete',
    path: '/schedules/{name}',
    summary: 'Delete a schedule',
    query: z.strictObject({
      runs: z
        .enum(['keep', 'delete'])
        .default('keep')
        .describe('Whether its runs stay as history, or go with it.'),
    }),
    headers: ['If-Match'],
    answer: null,
    problems: ['schedule_not_found', 'version_conflict'],
  }),
  syncSchedules: spec({
    method: 'post',
    path: '/schedules/sync',
    role: 'admin',
    groups: 'own',
    tag,
    summary: 'Put a declared set',
    description:
      'With `prune`, deletes what an earlier sync of the same source created and this one does not declare.',
    body: z.strictObject({
      schedules: z.record(z.string(), ScheduleDefinition),
      source: label.exactOptional(),
      prune: z.boolean().exactOptional(),
    }),
    answer: z.object({ changed: z.array(z.string()), deleted: z.array(z.string()) }),
    problems: [
      'schedule_invalid',
      'timing_invalid',
      'input_invalid',
      'unknown_job',
      'gate_closed',
      'gate_unavailable',
      'schedule_exists',
    ],
  }),
  listRunsOfSchedule: spec({
    ...read,
    path: '/schedules/{name}/runs',
    summary: 'The runs of a schedule, newest first',
    query: z.strictObject({ limit: limitOf(MAX_PAGE), pageToken }),
    answer: z.object({ runs: z.array(Run), nextPageToken }),
    problems: ['schedule_not_found', 'option_invalid'],
  }),
  listHistory: spec({
    ...read,
    path: '/schedules/{name}/history',
    summary: 'What became of a schedule, newest first: its runs and its skips',
    query: z.strictObject({ before: instantInput.exactOptional(), limit: limitOf(MAX_PAGE), pageToken }),
    answer: z.object({ entries: z.array(HistoryEntry), nextPageToken }),
    problems: ['schedule_not_found', 'option_invalid'],
  }),
  listOccurrences: spec({
    ...read,
    path: '/schedules/{name}/occurrences',
    summary: 'Every plan time of a range with its disposition',
    query: z.strictObject({
      from: instantInput.describe('Inclusive.'),
      to: instantInput.describe('Exclusive.'),
    }),
    answer: z.object({ occurrences: z.array(Occurrence) }),
    problems: ['schedule_not_found', 'option_invalid', 'range_too_large'],
  }),
  getTimeline: spec({
    ...read,
    path: '/schedules/{name}/timeline',
    summary: 'The occurrences around an instant',
    description:
      'A plan time is there with all its scopes or not at all; the nearest to each side is there whatever its scopes.',
    query: z.strictObject({
      at: instantInput.exactOptional().describe('Now by default.'),
      before: around.describe('How many occurrences before `at`.'),
      after: around.describe('How many from `at` on.'),
    }),
    answer: Timeline,
    problems: ['schedule_not_found', 'option_invalid', 'range_too_large'],
  }),
  listChanges: spec({
    ...read,
    path: '/schedules/{name}/changes',
    summary: 'The change log, newest first',
    query: z.strictObject({ limit: limitOf(MAX_PAGE), pageToken }),
    answer: z.object({ changes: z.array(ScheduleChange), nextPageToken }),
    problems: ['schedule_not_found', 'option_invalid'],
  }),
  previewSchedule: spec({
    ...read,
    path: '/schedules/{name}/preview',
    summary: 'The next plan times',
    query: z.strictObject({
      after: instantInput.exactOptional().describe('Exclusive; now by default.'),
      count: wholeNumber(1, 1_000).default(10),
    }),
    answer: SchedulePreview,
    problems: ['schedule_not_found', 'option_invalid'],
  }),
}

/** With its version as the ETag. */
export const answerSchedule = (schedule: KeptSchedule, status = 200) =>
  new Answer(schedule, { status, headers: { etag: `"${schedule.version}"` } })

const isError = (error: unknown, code: ErrorCode) => error instanceof EscapementError && error.code === code

async function exists(schedules: Schedules, name: string): Promise<boolean> {
  try {
    await schedules.get(name)
    return true
  } catch (error) {
    if (isError(error, 'schedule_not_found')) return false
    throw error
  }
}

export const scheduleRoutes = routesOf(SCHEDULE_SPECS, {
  async listSchedules({ schedules, query: { limit, pageToken: token, ...filter } }) {
    const { items, nextPageToken } = await boundedPage(pageOf(limit, token), async (portion) => {
      const found = await schedules.search({ ...filter, ...portion })
      return { items: found.schedules, nextPageToken: found.nextPageToken }
    })
    return { schedules: items, nextPageToken }
  },
  async putSchedule({ schedules, params: { name }, body, edit }) {
    const put = (expectedVersion = edit.expectedVersion) =>
      schedules.put(name, body as Definition, {
        ...edit,
        ...(expectedVersion !== undefined && { expectedVersion }),
      })
    const isNew =
      edit.expectedVersion === undefined ? !(await exists(schedules, name)) : edit.expectedVersion === 0
    if (!isNew) return answerSchedule(await put())
    try {
      return answerSchedule(await put(0), 201)
    } catch (error) {
      // Somebody else was faster: then it is replaced, unless that was not wanted.
      if (edit.expectedVersion === 0 || !isError(error, 'schedule_exists')) throw error
      return answerSchedule(await put())
    }
  },
  getSchedule: async ({ schedules, params }) => answerSchedule(await schedules.get(params.name)),
  patchSchedule: async ({ schedules, params, body, edit }) =>
    answerSchedule(await schedules.patch(params.name, body as Patch, edit)),
  deleteSchedule: ({ schedules, params, query, edit }) =>
    schedules.delete(params.name, { ...edit, runs: query.runs }),
  syncSchedules: ({ schedules, body, actor }) => {
    const { schedules: definitions, ...options } = body
    return schedules.sync(definitions as Record<string, Definition>, { ...options, actor })
  },
  listRunsOfSchedule: ({ runs, params, query }) => findRuns(runs, { ...query, schedule: params.name }),
  async listHistory({ schedules, params, query }) {
    const { before, ...page } = query
    const { shown, nextPageToken } = await pageOfEntries(page, (portion) =>
      schedules.history(params.name, { ...(before !== undefined && { before }), ...portion }),
    )
    return { entries: shown, nextPageToken }
  },
  listOccurrences: async ({ schedules, params, query }) => ({
    occurrences: await schedules.occurrences(params.name, query),
  }),
  getTimeline: ({ schedules, params, query }) => schedules.timeline(params.name, query),
  async listChanges({ schedules, params, query }) {
    const { shown, nextPageToken } = await pageOfEntries(query, (portion) =>
      schedules.changes(params.name, portion),
    )
    return { changes: shown, nextPageToken }
  },
  previewSchedule: ({ schedules, params, query }) => schedules.preview(params.name, query),
})
