import type { z } from 'zod'
import type { RequestHeader, RouteSpec } from '../server/route.js'
import type { Specs } from '../server/routes/index.js'

export type Operation = keyof Specs

/** The address of each operation, held to the server's own by its type. */
export const OPERATIONS: { [Name in Operation]: readonly [Specs[Name]['method'], Specs[Name]['path']] } = {
  listSchedules: ['get', '/schedules'],
  putSchedule: ['put', '/schedules/{name}'],
  getSchedule: ['get', '/schedules/{name}'],
  patchSchedule: ['patch', '/schedules/{name}'],
  deleteSchedule: ['delete', '/schedules/{name}'],
  syncSchedules: ['post', '/schedules/sync'],
  listRunsOfSchedule: ['get', '/schedules/{name}/runs'],
  listHistory: ['get', '/schedules/{name}/history'],
  listOccurrences: ['get', '/schedules/{name}/occurrences'],
  getTimeline: ['get', '/schedules/{name}/timeline'],
  listChanges: ['get', '/schedules/{name}/changes'],
  previewSchedule: ['get', '/schedules/{name}/preview'],
  pauseSchedule: ['post', '/schedules/{name}/pause'],
  resumeSchedule: ['post', '/schedules/{name}/resume'],
  triggerSchedule: ['post', '/schedules/{name}/trigger'],
  skipOccurrence: ['post', '/schedules/{name}/skip'],
  unskipOccurrence: ['post', '/schedules/{name}/unskip'],
  backfillSchedule: ['post', '/schedules/{name}/backfill'],
  renameSchedule: ['post', '/schedules/{name}/rename'],
  diffSchedule: ['post', '/schedules/{name}/diff'],
  pauseSchedules: ['post', '/schedules/pause'],
  resumeSchedules: ['post', '/schedules/resume'],
  pauseGroup: ['post', '/groups/{group}/pause'],
  resumeGroup: ['post', '/groups/{group}/resume'],
  previewTiming: ['post', '/preview'],
  listRuns: ['get', '/runs'],
  enqueueRun: ['post', '/runs'],
  enqueueRuns: ['post', '/runs/bulk'],
  getRun: ['get', '/runs/{id}'],
  cancelRun: ['post', '/runs/{id}/cancel'],
  retryRun: ['post', '/runs/{id}/retry'],
  retryRuns: ['post', '/runs/retry'],
  getClaiming: ['get', '/claiming'],
  setClaiming: ['post', '/claiming'],
  listJobs: ['get', '/jobs'],
  listWorkers: ['get', '/workers'],
  listQueues: ['get', '/queues'],
  getStats: ['get', '/stats'],
  getStatsHistory: ['get', '/stats/history'],
  getForecast: ['get', '/forecast'],
  listPlanned: ['get', '/forecast/schedules'],
  getAudit: ['get', '/audit'],
  getDiagnosis: ['get', '/doctor'],
  reconcile: ['post', '/reconcile'],
  listTransitions: ['get', '/transitions'],
  sweepTransitions: ['post', '/transitions/sweep'],
  listTokens: ['get', '/tokens'],
  createToken: ['post', '/tokens'],
  revokeToken: ['delete', '/tokens/{id}'],
  openSession: ['post', '/session'],
  getSession: ['get', '/session'],
  closeSession: ['delete', '/session'],
  streamEvents: ['get', '/events'],
  exportAll: ['post', '/export'],
  undoMove: ['post', '/export/undo'],
}

type WithHeaders = {
  [Name in Operation]: Specs[Name] extends { headers: readonly RequestHeader[] } ? Name : never
}[Operation]

/** The headers that an operation knows beyond those of all, held to the server's in the same way. */
export const KNOWN_HEADERS: { [Name in WithHeaders]: Specs[Name]['headers'] } = {
  putSchedule: ['If-Match', 'If-None-Match'],
  patchSchedule: ['If-Match'],
  deleteSchedule: ['If-Match'],
  pauseSchedule: ['If-Match'],
  resumeSchedule: ['If-Match'],
  renameSchedule: ['If-Match'],
  triggerSchedule: ['Idempotency-Key'],
  enqueueRun: ['Idempotency-Key'],
  streamEvents: ['Last-Event-ID'],
}

type KnownHeader<Name extends Operation> = Name extends WithHeaders ? Specs[Name]['headers'][number] : never

/** A query as a caller writes it: numbers are numbers, and what has a default may be left out. */
type QueryOf<Schema> = Schema extends z.ZodType
  ? { [Name in keyof z.input<Schema>]: z.output<Schema>[Name & keyof z.output<Schema>] }
  : undefined

type BodyOf<Schema> = Schema extends z.ZodType ? z.input<Schema> : undefined

/** What an operation takes beside its path. */
export type Query<Name extends Operation> = Specs[Name] extends { query: infer Schema }
  ? QueryOf<Schema>
  : undefined
export type Body<Name extends Operation> = Specs[Name] extends { body: infer Schema }
  ? BodyOf<Schema>
  : undefined

/** For every operation. */
export interface CallOptions {
  /** How long an answer may take, in milliseconds, instead of what the client was made with. */
  timeoutMs?: number
  /** Gives up: the call rejects with its reason. */
  signal?: AbortSignal
}

interface VersionOption {
  /** The version that was read: an edit that came between is not overwritten. 0 creates and never replaces: of `put` alone. */
  expectedVersion?: number
}

interface IdempotencyOption {
  /** The same again gives the same run. Printable ASCII; for anything else there is `key` in the body. */
  idempotencyKey?: string
}

/** Those of one operation: a precondition that it would not look at is not taken. */
export type CallOptionsOf<Name extends Operation> = CallOptions &
  ('If-Match' extends KnownHeader<Name> ? VersionOption : unknown) &
  ('Idempotency-Key' extends KnownHeader<Name> ? IdempotencyOption : unknown)

/** What it answers, as it travels: instants are texts. */
export type Result<Name extends Operation> = Specs[Name] extends { answer: infer Answer extends z.ZodType }
  ? z.output<Answer>
  : Specs[Name] extends RouteSpec
    ? undefined
    : never
