/**
 * Escapement in another program: the verbs of the library, over HTTP.
 *
 * @example
 * ```ts
 * import { createHttpClient } from 'escapement/http-client'
 *
 * const escapement = createHttpClient({ url: 'http://127.0.0.1:4680', token: process.env.ESCAPEMENT_TOKEN })
 * await escapement.runs.enqueue({ job: 'send-report', input: { customer: 'acme' } })
 * for await (const event of escapement.events({ names: ['run.failed'] })) console.log(event.data.runId)
 * ```
 */
import { type EventsOptions, readEvents, type ServerEvent } from './events.js'
import type { Body, CallOptions, CallOptionsOf, Operation, Query, Result } from './operations.js'
import type { Sent } from './request.js'
import { createTransport, type HttpClientOptions } from './transport.js'

export { type ErrorCode, EscapementError, type Mistake } from '../errors.js'
export type { EventsOptions, ServerEvent } from './events.js'
export type { Body, CallOptions, CallOptionsOf, Operation, Query, Result } from './operations.js'
export type { HttpClientOptions } from './transport.js'

export type HttpClient = ReturnType<typeof createHttpClient>

/**
 * What the server refuses rejects with an `EscapementError` that has the problem's `code`; what cannot be sent with
 * `option_invalid`, and what is not answered by Escapement, or not in time, with `server_unreachable`.
 */
export function createHttpClient(options: HttpClientOptions) {
  const transport = createTransport(options)
  const { call } = transport

  /** Operations on something that has a name. */
  const on =
    <Name extends Operation>(operation: Name) =>
    (name: string, sent: Sent<Name> = {}, more?: CallOptionsOf<Name>): Promise<Result<Name>> =>
      call(operation, { ...sent, params: { name, id: name, group: name } }, more)

  return {
    schedules: {
      list: (query?: Query<'listSchedules'>, more?: CallOptions) => call('listSchedules', { query }, more),
      planned: (query: Query<'listPlanned'>, more?: CallOptions) => call('listPlanned', { query }, more),
      put: (name: string, body: Body<'putSchedule'>, more?: CallOptionsOf<'putSchedule'>) =>
        on('putSchedule')(name, { body }, more),
      get: (name: string, more?: CallOptions) => on('getSchedule')(name, {}, more),
      patch: (name: string, body: Body<'patchSchedule'>, more?: CallOptionsOf<'patchSchedule'>) =>
        on('patchSchedule')(name, { body }, more),
      delete: (name: string, query?: Query<'deleteSchedule'>, more?: CallOptionsOf<'deleteSchedule'>) =>
        on('deleteSchedule')(name, { query }, more),
      sync: (body: Body<'syncSchedules'>, more?: CallOptions) => call('syncSchedules', { body }, more),
      pause: (name: string, body?: Body<'pauseSchedule'>, more?: CallOptionsOf<'pauseSchedule'>) =>
        on('pauseSchedule')(name, { body }, more),
      resume: (name: string, more?: CallOptionsOf<'resumeSchedule'>) => on('resumeSchedule')(name, {}, more),
      /** One portion of those that the filter finds: go on with the `nextPageToken` until that is null. */
      pauseAll: (body: Body<'pauseSchedules'>, more?: CallOptions) => call('pauseSchedules', { body }, more),
      resumeAll: (body: Body<'resumeSchedules'>, more?: CallOptions) =>
        call('resumeSchedules', { body }, more),
      trigger: (name: string, body?: Body<'triggerSchedule'>, more?: CallOptionsOf<'triggerSchedule'>) =>
        on('triggerSchedule')(name, { body }, more),
      skip: (name: string, planTime: string, more?: CallOptions) =>
        on('skipOccurrence')(name, { body: { planTime } }, more),
      unskip: (name: string, planTime: string, more?: CallOptions) =>
        on('unskipOccurrence')(name, { body: { planTime } }, more),
      backfill: (name: string, body: Body<'backfillSchedule'>, more?: CallOptions) =>
        on('backfillSchedule')(name, { body }, more),
      rename: (name: string, to: string, more?: CallOptionsOf<'renameSchedule'>) =>
        on('renameSchedule')(name, { body: { to } }, more),
      diff: (name: string, body: Body<'diffSchedule'>, more?: CallOptions) =>
        on('diffSchedule')(name, { body }, more),
      preview: (name: string, query?: Query<'previewSchedule'>, more?: CallOptions) =>
        on('previewSchedule')(name, { query }, more),
      runs: (name: string, query?: Query<'listRunsOfSchedule'>, more?: CallOptions) =>
        on('listRunsOfSchedule')(name, { query }, more),
      history: (name: string, query?: Query<'listHistory'>, more?: CallOptions) =>
        on('listHistory')(name, { query }, more),
      occurrences: (name: string, query: Query<'listOccurrences'>, more?: CallOptions) =>
        on('listOccurrences')(name, { query }, more),
      timeline: (name: string, query?: Query<'getTimeline'>, more?: CallOptions) =>
        on('getTimeline')(name, { query }, more),
      changes: (name: string, query?: Query<'listChanges'>, more?: CallOptions) =>
        on('listChanges')(name, { query }, more),
    },
    groups: {
      pause: (group: string, body?: Body<'pauseGroup'>, more?: CallOptions) =>
        on('pauseGroup')(group, { body }, more),
      resume: (group: string, more?: CallOptions) => on('resumeGroup')(group, {}, more),
    },
    runs: {
      list: (query?: Query<'listRuns'>, more?: CallOptions) => call('listRuns', { query }, more),
      enqueue: (body: Body<'enqueueRun'>, more?: CallOptionsOf<'enqueueRun'>) =>
        call('enqueueRun', { body }, more),
      enqueueMany: (body: Body<'enqueueRuns'>, more?: CallOptions) => call('enqueueRuns', { body }, more),
      get: (id: string, more?: CallOptions) => on('getRun')(id, {}, more),
      cancel: (id: string, body?: Body<'cancelRun'>, more?: CallOptions) =>
        on('cancelRun')(id, { body }, more),
      retry: (id: string, more?: CallOptions) => on('retryRun')(id, {}, more),
      retryAll: (body?: Body<'retryRuns'>, more?: CallOptions) => call('retryRuns', { body }, more),
    },
    claiming: {
      get: (more?: CallOptions) => call('getClaiming', {}, more),
      set: (body: Body<'setClaiming'>, more?: CallOptions) => call('setClaiming', { body }, more),
    },
    transitions: {
      list: (more?: CallOptions) => call('listTransitions', {}, more),
      sweep: (body?: Body<'sweepTransitions'>, more?: CallOptions) =>
        call('sweepTransitions', { body }, more),
    },
    tokens: {
      list: (query?: Query<'listTokens'>, more?: CallOptions) => call('listTokens', { query }, more),
      create: (body: Body<'createToken'>, more?: CallOptions) => call('createToken', { body }, more),
      revoke: (id: string, more?: CallOptions) => on('revokeToken')(id, {}, more),
    },
    preview: (body: Body<'previewTiming'>, more?: CallOptions) => call('previewTiming', { body }, more),
    jobs: (more?: CallOptions) => call('listJobs', {}, more),
    workers: (more?: CallOptions) => call('listWorkers', {}, more),
    queues: (more?: CallOptions) => call('listQueues', {}, more),
    stats: (more?: CallOptions) => call('getStats', {}, more),
    statsHistory: (query?: Query<'getStatsHistory'>, more?: CallOptions) =>
      call('getStatsHistory', { query }, more),
    forecast: (query?: Query<'getForecast'>, more?: CallOptions) => call('getForecast', { query }, more),
    audit: (query?: Query<'getAudit'>, more?: CallOptions) => call('getAudit', { query }, more),
    doctor: (more?: CallOptions) => call('getDiagnosis', {}, more),
    reconcile: (more?: CallOptions) => call('reconcile', {}, more),
    /** Everything, as lines of JSON in pieces of any size. It takes as long as it takes, unless a timeout is given. */
    export: (body?: Body<'exportAll'>, more?: CallOptions): AsyncGenerator<Uint8Array> =>
      transport.stream(
        transport.requestOf('exportAll', { body } as never, { timeoutMs: Number.POSITIVE_INFINITY, ...more }),
        'application/x-ndjson',
      ),
    undoMove: (more?: CallOptions) => call('undoMove', {}, more),
    /** Who the token stands for, and what it may do. */
    session: (more?: CallOptions) => call('getSession', {}, more),
    /** For pages in a browser: trades a token for a cookie, which the browser then sends by itself. */
    openSession: (token: string, more?: CallOptions) => call('openSession', { body: { token } }, more),
    closeSession: (more?: CallOptions) => call('closeSession', {}, more),
    /** Events as they come, through broken connections. */
    events: (options: EventsOptions = {}): AsyncGenerator<ServerEvent> => readEvents(transport, options),
  }
}
