import { z } from 'zod'
import { routesOf, spec } from '../route.js'
import { durationInput, id, instant, instantInput, json } from '../schemas/basics.js'

const count = z.int()

const Job = z
  .object({
    name: z.string(),
    retry: json.describe('Attempts, and the pauses between them.'),
    timeoutMs: z.number(),
    leaseMs: z.number(),
    onStale: z.enum(['retry', 'fail']),
    concurrency: count
      .nullable()
      .describe('How many at once in all processes together; null for any number.'),
    concurrencyKey: z.array(z.string()).nullable(),
    transactional: z.boolean(),
    gate: z.boolean(),
    provider: z.boolean().describe('Whether it gives the scopes of schedules that name none.'),
    inputSchema: json.describe('The JSON Schema of its input, or null.'),
    publishedAt: instant.nullable(),
    isLocal: z.boolean().describe('Whether the process that answers has its code.'),
    workers: z.array(z.object({ id, seenAt: instant, isAlive: z.boolean() })),
  })
  .meta({ id: 'Job' })

const Worker = z
  .object({
    id,
    host: z.string(),
    pid: count,
    version: z.string(),
    queues: z.array(z.string()),
    jobs: z.array(z.string()),
    concurrency: count,
    running: count,
    startedAt: instant,
    seenAt: instant,
    state: z.enum(['alive', 'lost']),
  })
  .meta({ id: 'Worker' })

const Queue = z
  .object({
    name: z.string(),
    ready: count.describe('Pending, and free to be claimed now.'),
    waiting: count.describe('Pending, and waiting for their time, or for an earlier run of their schedule.'),
    retrying: count,
    running: count,
    oldestReadyAt: instant.nullable(),
  })
  .meta({ id: 'Queue' })

const ended = z.object({ succeeded: count, failed: count, cancelled: count, skipped: count })

const Stats = z
  .object({
    asOf: instant,
    schedules: z
      .object({ active: count, paused: count, broken: count, finished: count })
      .describe("Counted up to 10,000 of a state; beyond that by the server's statistics, to three digits."),
    open: z.object({ pending: count, running: count, retrying: count }),
    ended: z.object({ lastHour: ended, lastDay: ended }).describe('Of each state up to 100,000.'),
    overdue: z.object({ schedules: count, since: instant.nullable() }),
    lateness: z
      .object({ runs: count, p50: z.number(), p95: z.number(), p99: z.number() })
      .nullable()
      .describe('Milliseconds from when the last runs might have started to when they did.'),
    claiming: z.object({
      paused: z.boolean(),
      reason: z.string().nullable(),
      by: z.string().nullable(),
      since: instant.nullable(),
    }),
    database: z.object({
      kind: z.enum(['postgres', 'pglite']),
      mode: z
        .enum(['direct', 'pooled'])
        .describe('How this server is connected: behind a transaction pooler it is `pooled`.'),
      version: z.string(),
      schema: z.string(),
      schemaVersion: count,
    }),
  })
  .meta({ id: 'Stats' })

const StatsPoint = z
  .object({
    from: instant,
    ...ended.shape,
    lateness: z
      .object({ runs: count, p50: z.number(), p95: z.number(), p99: z.number(), max: z.number() })
      .nullable()
      .describe(
        'Milliseconds from when runs might have started to when they did, of those that started in it. Percentiles may be an eighth off.',
      ),
  })
  .meta({ id: 'StatsPoint' })

const common = { method: 'get', role: 'viewer', groups: 'refused', tag: 'System', problems: [] } as const

export const OVERVIEW_SPECS = {
  listJobs: spec({
    ...common,
    path: '/jobs',
    summary: 'What workers can do',
    answer: z.object({ jobs: z.array(Job) }),
  }),
  listWorkers: spec({
    ...common,
    path: '/workers',
    summary: 'Who works, or did until lately',
    answer: z.object({ workers: z.array(Worker) }),
  }),
  listQueues: spec({
    ...common,
    path: '/queues',
    summary: 'The open runs of each queue',
    answer: z.object({ queues: z.array(Queue) }),
  }),
  getStats: spec({
    ...common,
    path: '/stats',
    summary: 'How much of everything there is',
    answer: Stats,
  }),
  getStatsHistory: spec({
    ...common,
    path: '/stats/history',
    summary: 'How many runs ended, and how late they started, by time',
    description:
      'Of minutes that are over, and at most 1,500 points of at most 31 days. Where nothing happened there is no point.',
    query: z.strictObject({
      from: instantInput
        .exactOptional()
        .describe('Inclusive, cut to its minute; an hour before `to` by default.'),
      to: instantInput
        .exactOptional()
        .describe('Exclusive; by default the end of the last minute that is over.'),
      bucket: durationInput.default('1 minute').describe('Whole minutes; points begin at `from`.'),
    }),
    answer: z.object({ from: instant, to: instant, bucketMs: count, points: z.array(StatsPoint) }),
    problems: ['option_invalid'],
  }),
}

export const overviewRoutes = routesOf(OVERVIEW_SPECS, {
  listJobs: async ({ escapement }) => ({ jobs: await escapement.jobs() }),
  listWorkers: async ({ escapement }) => ({ workers: await escapement.workers() }),
  listQueues: async ({ escapement }) => ({ queues: await escapement.queues() }),
  getStats: ({ escapement }) => escapement.stats(),
  getStatsHistory: ({ escapement, query }) => escapement.statsHistory(query),
})
