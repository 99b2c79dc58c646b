import { type JobPolicies, policiesOf } from '../runs/job-policies.js'
import type { JobRegistry } from '../runs/job-registry.js'
import type { RunState } from '../runs/run.js'
import type { ScheduleState } from '../schedules/schedule.js'
import type { ConnectionMode } from '../store/database.js'
import { COUNTED_SCHEDULES, countSchedules } from '../store/queries/depths.js'
import {
  countQueues,
  listPublished,
  listWorkers,
  type QueueRow,
  readStats,
} from '../store/queries/overview.js'
import type { Store } from '../store/store.js'
import { checkOptions, STATS_HISTORY } from './checked-schedules.js'
import type { Claiming, ClaimingStatus } from './claiming.js'
import { sharedRead } from './shared-read.js'
import { readStatsHistory, type StatsHistory, type StatsHistoryRange } from './stats-history.js'

/** A job that a worker has published, or that this process has the code of. */
export interface JobOverview extends JobPolicies {
  name: string
  /** When a worker last told of it; null where none has yet. */
  publishedAt: Date | null
  /** Whether this process has its code. */
  isLocal: boolean
  /** The workers that have it, those that are alive first. */
  workers: { id: string; seenAt: Date; isAlive: boolean }[]
}

/** A process that works on runs, or did until lately: who has not signed off is forgotten after a day. */
export interface WorkerOverview {
  id: string
  host: string
  pid: number
  version: string
  queues: string[]
  jobs: string[]
  concurrency: number
  /** How many runs it works on, as of when it was last seen. */
  running: number
  startedAt: Date
  seenAt: Date
  /** A worker says every five seconds or sooner that it lives; one that has not for 15 is taken for lost. */
  state: 'alive' | 'lost'
}

/** The open runs of one queue. */
export interface QueueOverview {
  name: string
  /** Pending, and free to be claimed now. */
  ready: number
  /** Pending, and waiting for their time, or for an earlier run of their schedule. */
  waiting: number
  retrying: number
  running: number
  /** Since when the one waits that could have been claimed the longest ago; null where none could. */
  oldestReadyAt: Date | null
}

type EndedState = Exclude<RunState, 'pending' | 'running' | 'retrying'>

export interface Stats {
  /** When it was read. Where that takes long, it is given again for up to five seconds. */
  asOf: Date
  /** Counted up to 10,000 of a state; beyond that as the server's statistics have them, to three digits. */
  schedules: Record<ScheduleState, number>
  /** Open runs. */
  open: { pending: number; running: number; retrying: number }
  /** Runs that ended, of each state up to 100,000. */
  ended: { lastHour: Record<EndedState, number>; lastDay: Record<EndedState, number> }
  /** Schedules that a scheduler should have looked at more than a minute ago, up to 100,000, and since when the first one. */
  overdue: { schedules: number; since: Date | null }
  /** How long after they were eligible the last runs that succeeded were started, in milliseconds; null where there are none. */
  lateness: { runs: number; p50: number; p95: number; p99: number } | null
  claiming: ClaimingStatus
  database: {
    kind: 'postgres' | 'pglite'
    /** How the process that was asked is connected: behind a transaction pooler it is `pooled`. */
    mode: ConnectionMode
    version: string
    schema: string
    schemaVersion: number
  }
}

export interface Overview {
  jobs(): Promise<JobOverview[]>
  workers(): Promise<WorkerOverview[]>
  queues(): Promise<QueueOverview[]>
  stats(): Promise<Stats>
  /**
   * How many runs ended in each bucket of time, and how late they started. Schedulers count each minute when it is over: the last one
   * may be missing for some seconds, and what happened while no scheduler ran for more than six hours stays uncounted.
   */
  statsHistory(range?: StatsHistoryRange): Promise<StatsHistory>
}

/** Three times as long as one that has nothing to do, and nobody to look after, keeps silent. */
const ALIVE_MS = 15_000
const OVERDUE_MS = 60_000
const MOST_COUNTED = 100_000
const LATENESS_OF = 1_000

export function createOverview(
  { store, jobs }: { store: Store; jobs: JobRegistry },
  claiming: Claiming,
): Overview {
  const queues = sharedRead(store, () => countQueues(store))

  const stats = sharedRead(store, async (): Promise<Stats> => {
    const [schedules, row, held, status] = await Promise.all([
      countSchedules(store),
      readStats(store, { most: MOST_COUNTED, sample: LATENESS_OF, overdueMs: OVERDUE_MS }),
      queues(),
      claiming.status(),
    ])
    const [p50, p95, p99] = row.lateness ?? []
    return {
      asOf: row.now,
      schedules: byState(schedules),
      open: {
        pending: sum(held, ({ ready, waiting }) => ready + waiting),
        running: sum(held, ({ running }) => running),
        retrying: sum(held, ({ retrying }) => retrying),
      },
      ended: { lastHour: { ...NONE_ENDED, ...row.last_hour }, lastDay: { ...NONE_ENDED, ...row.last_day } },
      overdue: { schedules: row.overdue, since: row.overdue_since },
      lateness: p50 === undefined ? null : { runs: row.lateness_of, p50, p95: p95!, p99: p99! },
      claiming: status,
      database: {
        kind: store.database.kind,
        mode: store.database.mode,
        version: row.server_version,
        schema: store.schema,
        schemaVersion: row.schema_version,
      },
    }
  })

  return {
    async jobs() {
      const [published, workers] = await Promise.all([listPublished(store), listWorkers(store, ALIVE_MS)])
      const told = new Map(published.map((job) => [job.name, job]))
      const names = [...new Set([...told.keys(), ...jobs.all().map(({ name }) => name)])].sort()
      return names.map((name) => {
        const code = jobs.get(name)
        const having = workers.filter((worker) => worker.jobs.includes(name))
        return {
          name,
          ...(code ? policiesOf(code) : told.get(name)!.policies),
          publishedAt: told.get(name)?.published_at ?? null,
          isLocal: code !== undefined,
          workers: having
            .map(({ id, seen_at, is_alive }) => ({ id, seenAt: seen_at, isAlive: is_alive }))
            .sort((a, b) => Number(b.isAlive) - Number(a.isAlive)),
        }
      })
    },
    async workers() {
      const rows = await listWorkers(store, ALIVE_MS)
      return rows.map(({ started_at, seen_at, is_alive, ...worker }) => ({
        ...worker,
        startedAt: started_at,
        seenAt: seen_at,
        state: is_alive ? 'alive' : 'lost',
      }))
    },
    async queues() {
      return (await queues()).map(({ oldest_ready_at, ...queue }) => ({
        ...queue,
        oldestReadyAt: oldest_ready_at,
      }))
    },
    stats,
    async statsHistory(range = {}) {
      checkOptions(range, STATS_HISTORY)
      return readStatsHistory(store, range)
    },
  }
}

const NONE_ENDED: Record<EndedState, number> = { succeeded: 0, failed: 0, cancelled: 0, skipped: 0 }

/** What is only estimated does not look as if it were counted. */
function byState(counts: readonly { state: ScheduleState; schedules: number }[]): Stats['schedules'] {
  const shown = counts.map(({ state, schedules }) => [
    state,
    schedules > COUNTED_SCHEDULES ? Number(schedules.toPrecision(3)) : schedules,
  ])
  return { active: 0, paused: 0, broken: 0, finished: 0, ...Object.fromEntries(shown) }
}

function sum(queues: readonly QueueRow[], count: (queue: QueueRow) => number): number {
  return queues.reduce((total, queue) => total + count(queue), 0)
}
