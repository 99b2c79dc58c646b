import { z } from 'zod'
import type { RunPage, RunSearchOptions } from '../../client/run-search.js'
import type { Runs } from '../../client/runs.js'
import type { Patch, Schedules } from '../../client/schedules.js'
import { type ErrorCode, EscapementError } from '../../errors.js'
import type { ScheduleDefinition as Definition, Schedule as KeptSchedule } from '../../schedules/schedule.js'
import { boundedPage } from '../bounded-page.js'
import { Answer, routesOf, spec } from '../route.js'
import { instantInput, label, limitOf, nextPageToken, pageToken, wholeNumber } from '../schemas/basics.js'
import { Run } from '../schemas/run.js'
import {
  HistoryEntry,
  Occurrence,
  SCHEDULE_STATES,
  Schedule,
  ScheduleChange,
  ScheduleDefinition,
  SchedulePatch,
  SchedulePreview,
} from '../schemas/schedule.js'

export const named = z.object({ name: label.describe('The name of the schedule.') })
const tag = 'Schedules'
const MAX_PAGE = 1_000

export const SCHEDULE_SPECS = {
  listSchedules: spec({
    method: 'get',
    path: '/schedules',
    role: 'viewer',
    groups: 'own',
    tag,
    summary: 'List schedules by name',
    query: z.strictObject({
      state: z.enum(SCHEDULE_STATES).exactOptional(),
      group: label.exactOptional(),
      job: label.exactOptional(),
      q: z
        .string()
        .min(1)
        .max(200)
        .exactOptional()
        .describe('Words, or beginnings of words, of name, job, group and description.'),
      limit: limitOf(MAX_PAGE),
      pageToken,
    }),
    answer: z.object({ schedules: z.array(Schedule), nextPageToken }),
    problems: ['option_invalid'],
  }),
  putSchedule: spec({
    method: 'put',
    path: '/schedules/{name}',
    role: 'admin',
    groups: 'own',
    tag,
    summary: 'Create a schedule, or replace what it holds',
    description:
      'Putting the same content again changes nothing. `If-Match` with the ETag refuses to overwrite an edit that came between; ' +
      '`If-None-Match: *` only creates.',
    params: named,
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
    ],
  }),
  getSchedule: spec({
    method: 'get',
    path: '/schedules/{name}',
    role: 'viewer',
    groups: 'own',
    tag,
    summary: 'Read one schedule',
    params: named,
    answer: Schedule,
    problems: ['schedule_not_found'],
  }),
  patchSchedule: spec({
    method: 'patch',
    path: '/schedules/{name}',
    role: 'admin',
    groups: 'own',
    tag,
    summary: 'Replace single fields',
    params: named,
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
    ],
  }),
  deleteSchedule: spec({
    method: 'delete',
    path: '/schedules/{name}',
    role: 'admin',
    groups: 'own',
    tag,
    summary: 'Delete a schedule',
    params: named,
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
    method: 'get',
    path: '/schedules/{name}/runs',
    role: 'viewer',
    groups: 'own',
    tag,
    summary: 'The runs of a schedule, newest first',
    params: named,
    query: z.strictObject({ limit: limitOf(MAX_PAGE), pageToken }),
    answer: z.object({ runs: z.array(Run), nextPageToken }),
    problems: ['schedule_not_found', 'option_invalid'],
  }),
  listHistory: spec({
    method: 'get',
    path: '/schedules/{name}/history',
    role: 'viewer',
    groups: 'own',
    tag,
    summary: 'What became of a schedule, newest first: its runs and its skips',
    params: named,
    query: z.strictObject({ before: instantInput.exactOptional(), limit: limitOf(MAX_PAGE), pageToken }),
    answer: z.object({ entries: z.array(HistoryEntry), nextPageToken }),
    problems: ['schedule_not_found', 'option_invalid'],
  }),
  listOccurrences: spec({
    method: 'get',
    path: '/schedules/{name}/occurrences',
    role: 'viewer',
    groups: 'own',
    tag,
    summary: 'Every plan time of a range with its disposition',
    params: named,
    query: z.strictObject({
      from: instantInput.describe('Inclusive.'),
      to: instantInput.describe('Exclusive.'),
    }),
    answer: z.object({ occurrences: z.array(Occurrence) }),
    problems: ['schedule_not_found', 'option_invalid', 'range_too_large'],
  }),
  listChanges: spec({
    method: 'get',
    path: '/schedules/{name}/changes',
    role: 'viewer',
    groups: 'own',
    tag,
    summary: 'The change log, newest first',
    params: named,
    query: z.strictObject({ limit: limitOf(MAX_PAGE), pageToken }),
    answer: z.object({ changes: z.array(ScheduleChange), nextPageToken }),
    problems: ['schedule_not_found', 'option_invalid'],
  }),
  previewSchedule: spec({
    method: 'get',
    path: '/schedules/{name}/preview',
    role: 'viewer',
    groups: 'own',
    tag,
    summary: 'The next plan times',
    params: named,
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

const pageOf = (limit: number, token: string | undefined) => ({
  limit,
  ...(token !== undefined && { pageToken: token }),
})

/** A page of entries that each say where the next begins. */
async function pageOfEntries<Entry extends { pageToken: string }>(
  { limit, pageToken: token }: { limit: number; pageToken?: string },
  read: (portion: { limit: number; pageToken?: string }) => Promise<readonly Entry[]>,
) {
  const { items, nextPageToken } = await boundedPage(pageOf(limit, token), async (portion) => {
    // One is left over if there are more.
    const found = await read({ ...portion, limit: portion.limit + 1 })
    const entries = found.slice(0, portion.limit)
    return { items: entries, nextPageToken: found.length > entries.length ? entries.at(-1)!.pageToken : null }
  })
  return { shown: items.map(({ pageToken: _, ...entry }) => entry), nextPageToken }
}

/** Runs of a page, newest first. */
export async function findRuns(
  runs: Runs,
  { limit, pageToken: token, ...filter }: RunSearchOptions & { limit: number },
): Promise<RunPage> {
  const { items, nextPageToken } = await boundedPage(pageOf(limit, token), async (portion) => {
    const found = await runs.search({ ...filter, ...portion })
    return { items: found.runs, nextPageToken: found.nextPageToken }
  })
  return { runs: items, nextPageToken }
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
  async listChanges({ schedules, params, query }) {
    const { shown, nextPageToken } = await pageOfEntries(query, (portion) =>
      schedules.changes(params.name, portion),
    )
    return { changes: shown, nextPageToken }
  },
  previewSchedule: ({ schedules, params, query }) => schedules.preview(params.name, query),
})
