import { LATENESS_BOUNDS } from '../../runs/lateness.js'
import { NOW, type Session, type Store } from '../store.js'

export interface MinuteLimits {
  /** How far this process has counted; null where it has not yet. */
  through: Date | null
  /** Of what was never counted, older minutes are left out. */
  backMs: number
  /** How much one statement counts at most. */
  portionMs: number
}

export interface CountedMinutes {
  /** All minutes before this are counted; null where another process is at it. */
  through: Date | null
  has_more: boolean
  /** Until the minute is over that is under way. */
  ms_until_next: number
}

/**
 * Counts the minutes that are over and have not been counted, and the last one again: a transaction may commit after the minute
 * in which its runs ended. Whoever is first counts for all: the others find its rows, or that it is at it. In idle hours there are no
 * rows, and all look, which costs next to nothing. Dying anywhere leaves what was counted, and the rest to be counted.
 *
 * Counts only grow: a run that was retried or deleted since ended in its minute all the same. What stays as it is is not
 * written again.
 */
export async function countMinutes(
  store: Store,
  { through, backMs, portionMs }: MinuteLimits,
): Promise<CountedMinutes> {
  const [row] = await store.query<CountedMinutes>(COUNT_MINUTES, [
    store.now(),
    through,
    backMs,
    portionMs,
    LATENESS_BOUNDS,
    `${store.schema} minutes`,
  ])
  return row!
}

const minuteOf = (time: string) => `date_bin('1 minute', ${time}, timestamptz 'epoch')`

/**
 * The bucket of a run's lateness, and how many are in it. One that waits for another attempt is eligible after it started. (`date_part`
 * and not `extract`, whose result is exact and takes twice as long.)
 */
const LATENESS = `case when started_at >= eligible_at then ${minuteOf('started_at')} end as started,
      width_bucket(date_part('epoch', started_at - eligible_at) * 1000, $5::float8[]) as bucket,
      count(*) as runs, max(started_at - eligible_at) as latest`

/**
 * Runs that ended are found by their end, and so are those of them that started in a minute, as far as they ended within a portion
 * after it; where it is not hours behind, that is all. Those that started and have not ended are the running ones.
 */
const COUNT_MINUTES = `
  with clock as materialized (select ${NOW} as now),
  -- Of a clock that was set back, or of the database that was imported, there may be minutes to come: they say nothing of this one.
  known as materialized (
    select over, (select max(minute) from {schema}.run_minutes where minute < over) as newest
    from (select ${minuteOf('now')} as over from clock) as this
  ),
  -- Whether it is to be counted here: without that it has no beginning, and nothing is read.
  wanted as materialized (
    select over, newest is not null and newest >= over - interval '1 minute' as is_counted,
      greatest(newest, case when $2::timestamptz <= over then $2::timestamptz - interval '1 minute' end,
        over - $3::float8 * interval '1 millisecond') as since
    from known
  ),
  mine as materialized (
    select case when is_counted then false else pg_try_advisory_xact_lock(hashtextextended($6, 0)) end as is_mine from wanted
  ),
  -- Idle hours are passed over: it begins where the first run ended, or with the last minute.
  begun as materialized (
    select case when is_mine then greatest(since, least(over - interval '1 minute', (
      select ${minuteOf('min(first.at)')} from unnest('{succeeded,failed,cancelled,skipped}'::text[]) as s (state) cross join lateral (
        select min(e.finished_at) as at from {schema}.runs_ended as e where e.state = s.state and e.finished_at >= wanted.since
      ) as first
    ))) end as since
    from wanted, mine
  ),
  range as materialized (
    select begun.since, least(over, begun.since + $4::float8 * interval '1 millisecond') as until,
      case when over <= begun.since + $4::float8 * interval '1 millisecond' then 'infinity'
        else begun.since + 2 * $4::float8 * interval '1 millisecond' end as ended_before
    from wanted, begun
  ),
  ended as materialized (
    select state, ${minuteOf('finished_at')} as finished, ${LATENESS}
    from {schema}.runs_ended
    where state = any('{succeeded,failed,cancelled,skipped}') and finished_at >= (select since from range)
      and finished_at < (select ended_before from range)
    group by state, finished, started, bucket
  ),
  running as materialized (
    select ${LATENESS} from {schema}.runs_at_hand
    -- A lease ends after its run was started. That this is not long ago is asked below: an index of beginnings would be read from end to end.
    where state = 'running' and lease_expires_at >= (select since from range)
    group by started, bucket
  ),
  ends as (
    select finished as minute, sum(runs) filter (where state = 'succeeded') as succeeded,
      sum(runs) filter (where state = 'failed') as failed, sum(runs) filter (where state = 'cancelled') as cancelled,
      sum(runs) filter (where state = 'skipped') as skipped
    from ended, range where finished < range.until group by finished
  ),
  starts as materialized (
    select started as minute, bucket, sum(runs)::int as runs, max(latest) as latest
    from (
      select started, bucket, runs, latest from ended union all select started, bucket, runs, latest from running
    ) as one, range
    where started >= range.since and started < range.until
    group by started, bucket
  ),
  late as (
    select minute, sum(runs) as started, date_part('epoch', max(latest)) * 1000 as latest_ms, array(
      select coalesce(one.runs, 0) from generate_series(0, max(starts.bucket)) as place (bucket)
      left join starts as one on one.minute = starts.minute and one.bucket = place.bucket order by place.bucket
    ) as lateness
    from starts group by minute
  ),
  written as (
    insert into {schema}.run_minutes as m
      (minute, succeeded, failed, cancelled, skipped, started, lateness, latest_ms)
    select minute, coalesce(succeeded, 0), coalesce(failed, 0), coalesce(cancelled, 0), coalesce(skipped, 0),
      coalesce(started, 0), coalesce(lateness, '{}'), latest_ms
    from ends full join late using (minute) order by minute
    on conflict (minute) do update
    set succeeded = greatest(m.succeeded, excluded.succeeded), failed = greatest(m.failed, excluded.failed),
      cancelled = greatest(m.cancelled, excluded.cancelled), skipped = greatest(m.skipped, excluded.skipped),
      started = greatest(m.started, excluded.started),
      lateness = case when excluded.started > m.started then excluded.lateness else m.lateness end,
      latest_ms = greatest(m.latest_ms, excluded.latest_ms)
    where excluded.succeeded > m.succeeded or excluded.failed > m.failed or excluded.cancelled > m.cancelled
      or excluded.skipped > m.skipped or excluded.started > m.started
  )
  select case when is_counted then over when is_mine then until end as through, is_mine and until < over as has_more,
    extract(epoch from over + interval '1 minute' - now)::float8 * 1000 as ms_until_next
  from wanted, mine, range, clock`

export interface MinutesRow {
  from: Date
  succeeded: number
  failed: number
  cancelled: number
  skipped: number
  /** The counts of each minute, for `addUp`. */
  lateness: string
  latest_ms: number | null
}

/**
 * What was counted from an instant to another, in buckets that begin with the first; those in which nothing happened are left out.
 *
 * Counts of lateness come as text and are added up by the caller: as rows, one for each count, the database took three times as long.
 */
export function readMinutes(
  session: Session,
  { from, to, bucketMs }: { from: Date; to: Date; bucketMs: number },
): Promise<MinutesRow[]> {
  return session.query<MinutesRow>(
    `select date_bin($3::float8 * interval '1 millisecond', minute, $1::timestamptz) as "from", sum(succeeded) as succeeded,
       sum(failed) as failed, sum(cancelled) as cancelled, sum(skipped) as skipped, max(latest_ms) as latest_ms,
       string_agg(array_to_string(lateness, ','), ';') as lateness
     from {schema}.run_minutes where minute >= $1 and minute < $2
     group by 1 order by 1`,
    [from, to, bucketMs],
  )
}

const [COMMA, ZERO, SEMICOLON] = [44, 48, 59]

/** `1,0,2;0,5` is 1, 5, 2. */
export function addUp(counts: string): number[] {
  const sums: number[] = []
  let [value, bucket] = [0, 0]
  for (let at = 0; at <= counts.length; at++) {
    const code = at === counts.length ? SEMICOLON : counts.charCodeAt(at)
    if (code !== COMMA && code !== SEMICOLON) {
      value = value * 10 + code - ZERO
      continue
    }
    if (bucket === sums.length) sums.push(0)
    sums[bucket]! += value
    value = 0
    bucket = code === COMMA ? bucket + 1 : 0
  }
  return sums
}

/** Forgets minutes that are older than `ms`. */
export async function pruneMinutes(session: Session, ms: number): Promise<void> {
  await session.query(
    `delete from {schema}.run_minutes where minute < (select ${NOW} - $2::float8 * interval '1 millisecond')`,
    [session.now(), ms],
  )
}
