/** What all claims have in common: whom they look at, and what a lease says. */

import type { Instant } from '../../time/instant.js'
import type { RunRow } from '../rows.js'
import { NOW, type Session } from '../store.js'
import type { Fronts } from './fronts.js'

export interface ClaimableJob {
  name: string
  leaseMs: number
  retry: { readonly attempts: number }
  onStale: 'retry' | 'fail'
  /** How many of its runs may be worked on at once in all processes; null for any number. */
  concurrency: number | null
  /** The path into the input of which one run is worked on at a time; null for none. */
  concurrencyKey: readonly string[] | null
}

export interface Claim {
  workerId: string
  leaseToken: string
  /** The one whose turn it is first: it has the only place where there is but one. */
  queues: readonly string[]
  /** The jobs that this worker has. */
  jobs: readonly ClaimableJob[]
  limit: number
  /** Whether lots were waiting when it was last asked: kept from one claim to the next. */
  lots?: { areWaiting: boolean }
  /** Where it looks; null for everything. */
  from?: Fronts | null
  /** What was found when jobs with limits were last counted, by their names: kept from one claim to the next. */
  counted?: Map<string, Counted>
}

/** Nothing of a job is worked on that was begun before then, as of an instant: by the clock of the database, and by one that nobody sets. */
export interface Counted {
  begun: Instant
  at: Instant
  atMs: number
}

/** What a worker needs to know of a run that it has claimed; the rest follows from that. */
export type ClaimedRow = Pick<RunRow, (typeof ASKED_COLUMNS | typeof OPEN_COLUMNS)[number]> & {
  /** The lot that it is in; null for one with a row of its own. */
  lot_id: string | null
  schedule_name: string | null
  timing: unknown
  has_breaker: boolean
  /** Of the span that asked for it. */
  trace_context: string | null
}

const ASKED_COLUMNS = [
  'id',
  'job',
  'input',
  'queue',
  'priority',
  'trigger',
  'schedule_id',
  'schedule_version',
  'scope',
  'plan_time',
  'key',
  'created_at',
] as const
const OPEN_COLUMNS = ['eligible_at', 'attempt', 'lane', 'started_at', 'error_code', 'error_message'] as const

/** Of a run `asked` of a schedule `s`: that of the version by which it was planned, also where its schedule has been edited or deleted since. */
export const TIMING_OF_RUN = `case asked.schedule_version when s.version then s.timing else (
    select c.after->'timing' from {schema}.changes as c
    where c.schedule_id = asked.schedule_id and c.after is not null and c.version <= asked.schedule_version
    order by c.id desc limit 1
  ) end`

export const HAS_BREAKER = `coalesce(s.policies->'breaker' <> 'null', false)`

/** Runs of `runs_open` that somebody works on, in the words of the index that has them by their beginnings. */
export const AT_WORK = 'num_nulls(lease_token) = 0'

/** What a claim says of the code that works on its runs, as the lease keeps it: whatever others have published since. */
export const JOBS =
  'unnest($4::text[], $5::float8[], $6::int[], $7::boolean[]) as job (name, lease_ms, attempts, fails)'
export const LEASE = `worker_id = $2, lease_token = $3, started_at = clock.now,
      lease_expires_at = clock.now + job.lease_ms * interval '1 millisecond', max_attempts = job.attempts,
      fails_when_stale = job.fails`

/** Leases the runs that `picked` names. By an array, which leads to the primary key however large the table is. */
export const LEASE_PICKED = `
  claimed as (
    update {schema}.runs_open as r
    set state = 'running', attempt = r.attempt + 1, ${LEASE}, progress = null, progress_note = null, totals = null
    from clock, ${JOBS}
    where r.id = any(array(select id from picked)) and r.job = job.name
    returning r.id, r.has_counted, ${OPEN_COLUMNS.map((name) => `r.${name}`).join(', ')}
  )
  select null::uuid as lot_id, null::json as run_ids, null::json as inputs, null::json as occurrences,
    ${ASKED_COLUMNS.map((name) => `asked.${name}`).join(', ')}, ${OPEN_COLUMNS.map((name) => `r.${name}`).join(', ')},
    asked.trace_context, s.name as schedule_name, ${TIMING_OF_RUN} as timing,
    ${HAS_BREAKER} and not r.has_counted as has_breaker
  from claimed as r join {schema}.runs_asked as asked on asked.id = r.id
  left join {schema}.schedules as s on s.id = asked.schedule_id`

/** An operator has paused claiming, or somebody who is about to move everything waits for what runs. */
export const MAY_CLAIM = `claiming_paused_at is null and coalesce(claiming_held_until <= ${NOW}, true)`

/** Nothing is claimed while claiming is paused. */
export const CLOCK = `clock as materialized (select ${NOW} as now from {schema}.control where ${MAY_CLAIM})`

/** Priority first, then age: the order in which they were picked. */
export function inOrder(a: ClaimedRow, b: ClaimedRow): number {
  return (
    b.priority - a.priority || a.eligible_at.getTime() - b.eligible_at.getTime() || (a.id < b.id ? -1 : 1)
  )
}

export const IN_LINE = 'priority desc, eligible_at, id'

export function claimParams(session: Session, { workerId, leaseToken, jobs, queues, limit }: Claim) {
  return [
    session.now(),
    workerId,
    leaseToken,
    jobs.map(({ name }) => name),
    jobs.map(({ leaseMs }) => leaseMs),
    jobs.map(({ retry }) => retry.attempts),
    jobs.map(({ onStale }) => onStale === 'fail'),
    queues,
    limit,
    Math.ceil(limit / queues.length),
  ] as const
}
