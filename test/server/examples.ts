import type { Body, Operation, Query } from '../../src/http-client/operations.js'
import { PLAN_TIME, type World } from './world.js'

/** One request of an operation that succeeds, with what it needs already there. */
export interface Example {
  params?: Record<string, string> | undefined
  query?: Record<string, unknown> | undefined
  body?: unknown
  headers?: Record<string, string> | undefined
}

type Typed<Name extends Operation> = Omit<Example, 'query' | 'body'> &
  (undefined extends Query<Name> ? { query?: undefined } : { query?: Query<Name> }) &
  (undefined extends Body<Name> ? { body?: Body<Name> } : { body: Body<Name> })

/** In the group, where one is given. */
type Prepare<Name extends Operation> = (world: World, group?: string) => Promise<Typed<Name>> | Typed<Name>

const definition = {
  job: 'work',
  timing: { kind: 'cron', expression: '0 9 * * *', zone: 'Europe/Paris' },
} as const

const ofSchedule = async (world: World, group?: string) => ({
  params: { name: await world.schedule(group === undefined ? {} : { group }) },
})

const inGroup = (group: string | undefined) => (group === undefined ? {} : { group })

/** One for each operation: an operation that has none does not compile. */
export const EXAMPLES: { [Name in Operation]: Prepare<Name> } = {
  listSchedules: () => ({ query: { state: 'active', limit: 10, q: 'sched', recent: 3 } }),
  putSchedule: (world, group) => ({
    params: { name: `put:${world.unique()}` },
    body: {
      ...definition,
      ...inGroup(group),
      input: { a: 1 },
      catchUp: 'all',
      catchUpWindow: '1 day',
      catchUpLimit: 5,
      grace: '5 minutes',
      overlap: 'queue',
      delay: '1s',
      jitter: '10s',
      breaker: { failures: 3, cooldown: '1 hour' },
      startAt: '2047-01-01T00:00',
      endAt: '2050-01-01T00:00:00Z',
      limit: 100,
      scopes: ['eu', 'us'],
      metadata: { owner: 'ops' },
      description: 'of the morning',
      priority: 5,
      queue: 'reports',
      deleteWhenDone: false,
      paused: true,
    },
  }),
  getSchedule: ofSchedule,
  patchSchedule: async (world, group) => ({
    ...(await ofSchedule(world, group)),
    body: { priority: 3, description: null, timing: { kind: 'every', every: '2 hours' } },
    headers: { 'if-match': '"1"' },
  }),
  deleteSchedule: async (world, group) => ({
    ...(await ofSchedule(world, group)),
    query: { runs: 'delete' },
  }),
  syncSchedules: (world, group) => ({
    body: {
      schedules: { [`sync:${world.unique()}`]: { ...definition, ...inGroup(group) } },
      source: world.unique(),
      prune: true,
    },
  }),
  listRunsOfSchedule: async (world, group) => ({ ...(await ofSchedule(world, group)), query: { limit: 5 } }),
  listHistory: async (world, group) => ({
    ...(await ofSchedule(world, group)),
    query: { before: '2030-01-01T00:00:00Z', limit: 5 },
  }),
  listOccurrences: async (world, group) => ({
    ...(await ofSchedule(world, group)),
    query: { from: '2099-01-01T00:00:00Z', to: '2099-01-10T00:00:00Z' },
  }),
  getTimeline: async (world, group) => ({
    ...(await ofSchedule(world, group)),
    query: { at: '2099-01-01T00:00:00Z', before: 2, after: 3 },
  }),
  listChanges: async (world, group) => ({ ...(await ofSchedule(world, group)), query: { limit: 5 } }),
  previewSchedule: async (world, group) => ({
    ...(await ofSchedule(world, group)),
    query: { after: '2047-01-01T00:00:00Z', count: 3 },
  }),
  pauseSchedule: async (world, group) => ({
    ...(await ofSchedule(world, group)),
    body: { reason: 'maintenance', until: { in: '2 hours' } },
  }),
  resumeSchedule: ofSchedule,
  triggerSchedule: async (world, group) => ({
    ...(await ofSchedule(world, group)),
    body: { input: { b: 2 }, scope: 'global' },
    headers: { 'idempotency-key': world.unique() },
  }),
  skipOccurrence: async (world, group) => ({
    ...(await ofSchedule(world, group)),
    body: { planTime: PLAN_TIME },
  }),
  unskipOccurrence: async (world, group) => {
    const given = await ofSchedule(world, group)
    await world.escapement.schedules.skip(given.params.name, PLAN_TIME)
    return { ...given, body: { planTime: PLAN_TIME } }
  },
  backfillSchedule: async (world, group) => ({
    ...(await ofSchedule(world, group)),
    body: { from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z', dryRun: true },
  }),
  renameSchedule: async (world, group) => ({
    ...(await ofSchedule(world, group)),
    body: { to: `renamed:${world.unique()}` },
  }),
  diffSchedule: async (world, group) => ({
    ...(await ofSchedule(world, group)),
    body: { fields: { timing: { kind: 'rrule', rule: 'FREQ=WEEKLY;BYDAY=MO' } }, count: 3 },
  }),
  pauseSchedules: (world, group) => ({
    body: {
      filter: { q: world.unique(), job: 'work', state: 'active', ...inGroup(group) },
      reason: 'why not',
      until: { in: '1 hour' },
    },
  }),
  resumeSchedules: (world, group) => ({
    body: { filter: { q: world.unique(), ...inGroup(group) }, dryRun: true },
  }),
  pauseGroup: (world, group) => ({
    params: { group: group ?? `none-${world.unique()}` },
    body: { reason: 'why not' },
  }),
  resumeGroup: (world, group) => ({ params: { group: group ?? `none-${world.unique()}` } }),
  previewTiming: () => ({
    body: {
      timing: { kind: 'once', at: '2047-01-01T09:00', zone: 'Asia/Tokyo' },
      after: '2026-01-01T00:00',
      count: 2,
    },
  }),
  listRuns: () => ({ query: { state: ['failed', 'running'], job: 'work', limit: 5 } }),
  enqueueRun: (world) => ({
    body: {
      job: 'work',
      input: [1, 2],
      at: { in: '5 minutes' },
      queue: 'slow',
      priority: 1,
      key: world.unique(),
    },
  }),
  enqueueRuns: (world) => ({
    body: {
      job: 'work',
      items: [{ input: 1 }, { input: 2, key: world.unique(), at: '2030-01-01T00:00:00Z' }],
    },
  }),
  getRun: async (world, group) => ({ params: { id: await world.failedRun(group) } }),
  cancelRun: async (world, group) => ({
    params: { id: await world.escapement.schedules.trigger((await ofSchedule(world, group)).params.name) },
    body: { reason: 'not needed' },
  }),
  retryRun: async (world, group) => ({ params: { id: await world.failedRun(group) } }),
  retryRuns: () => ({ body: { job: 'work', finishedBefore: '2030-01-01T00:00:00Z' } }),
  getClaiming: () => ({}),
  setClaiming: () => ({ body: { paused: true, reason: 'deploy' } }),
  listJobs: () => ({}),
  listWorkers: () => ({}),
  listQueues: () => ({}),
  getStats: () => ({}),
  getStatsHistory: () => ({
    query: { from: '2047-01-01T00:00:00Z', to: '2047-01-02T00:00:00Z', bucket: '1 hour' },
  }),
  getForecast: () => ({
    query: { from: '2047-01-01T00:00:00Z', to: '2047-01-01T01:00:00Z', bucket: '10 minutes', by: 'queue' },
  }),
  listPlanned: () => ({
    query: { from: '2047-01-01T08:00:00Z', to: '2047-01-01T09:00:00Z', queue: 'default', limit: 2 },
  }),
  getAudit: () => ({ query: { from: '2026-01-01T00:00:00Z' } }),
  getDiagnosis: () => ({}),
  reconcile: () => ({}),
  listTransitions: () => ({}),
  sweepTransitions: () => ({ body: { quarantined: true } }),
  listTokens: () => ({ query: { limit: 2 } }),
  createToken: (world) => ({
    body: { name: world.unique(), role: 'viewer', group: 'acme', expiresAt: '2099-01-01T00:00:00Z' },
  }),
  revokeToken: async (world) => ({
    params: {
      id: (await world.escapement.tokens.create({ name: world.unique(), role: 'viewer' })).id,
    },
  }),
  openSession: async (world) => ({ body: { token: await world.token('viewer') } }),
  getSession: () => ({}),
  closeSession: () => ({}),
  streamEvents: () => ({ query: { names: ['run.failed', 'run.succeeded'] } }),
  exportAll: () => ({ body: { mode: 'copy', wait: '1s' } }),
  undoMove: () => ({}),
}

/** `POST /api/v1/schedules/a%3Ab/pause?…`. */
export function lineOf(
  [method, path]: readonly [string, string],
  { params = {}, query = {} }: Example,
): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name]!))
  const search = new URLSearchParams(
    Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])),
  )
  return `${method.toUpperCase()} /api/v1${filled}${search.size > 0 ? `?${search}` : ''}`
}
