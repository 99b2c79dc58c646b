import { createBreather } from '../breather.js'
import { type Lateness, latenessOf } from '../runs/lateness.js'
import { addUp, type MinutesRow, readMinutes } from '../store/queries/minutes.js'
import { readNow } from '../store/queries/schedules.js'
import type { Store } from '../store/store.js'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../time/calendar.js'
import { type DurationInput, readElapsed } from '../time/duration.js'
import { type Instant, type InstantInput, readInstant } from '../time/instant.js'
import { type Report, readOrThrow } from '../time/report.js'

/** What `statsHistory` takes. */
export interface StatsHistoryRange {
  /** Inclusive, cut to its minute; an hour before `to` by default. */
  from?: InstantInput
  /** Exclusive; by default the end of the last minute that is over. */
  to?: InstantInput
  /**
   * Whole minutes; points begin at `from`.
   * @default '1 minute'
   */
  bucket?: DurationInput
}

/** What happened in one bucket of time. */
export interface StatsPoint {
  from: Date
  /** Runs that ended in it. One that failed and was retried by an operator ends twice. */
  succeeded: number
  failed: number
  cancelled: number
  skipped: number
  /**
   * How long after they were eligible runs started in it, in milliseconds; null where none did. The maximum is exact, percentiles
   * come from counts in buckets and may be an eighth off.
   */
  lateness: Lateness | null
}

export interface StatsHistory {
  from: Date
  to: Date
  bucketMs: number
  /** In order; where nothing happened there is none. */
  points: StatsPoint[]
}

const MOST_POINTS = 1_500
const MOST_DAYS = 31

/** How many runs ended, and how late they started, in each bucket of time: of minutes that are over. */
export async function readStatsHistory(store: Store, range: StatsHistoryRange): Promise<StatsHistory> {
  const asked = await boundsOf(store, range)
  const points: StatsPoint[] = []
  const breathe = createBreather()
  for (const row of await readMinutes(store, asked)) {
    await breathe()
    points.push(pointOf(row))
  }
  return { ...asked, points }
}

async function boundsOf(
  store: Store,
  { from, to, bucket = '1 minute' }: StatsHistoryRange,
): Promise<Omit<StatsHistory, 'points'>> {
  const now = await readNow(store)
  return readOrThrow('option_invalid', (report) => {
    const end = to === undefined ? minuteOf(now) : readInstant(to, 'to', report)
    const begin = from === undefined ? hourBefore(end) : readInstant(from, 'from', report)
    const bucketMs = readElapsed(bucket, 'bucket', report)
    if (end === undefined || begin === undefined || bucketMs === undefined) return undefined
    checkRange({ from: minuteOf(begin), to: end, bucketMs }, report)
    return { from: new Date(minuteOf(begin)), to: new Date(end), bucketMs }
  })
}

const hourBefore = (end: Instant | undefined) => (end === undefined ? undefined : end - HOUR_MS)

function checkRange(
  { from, to, bucketMs }: { from: Instant; to: Instant; bucketMs: number },
  report: Report,
): void {
  if (bucketMs < MINUTE_MS || bucketMs % MINUTE_MS !== 0) {
    report('bucket', `${bucketMs} ms – must be a whole number of minutes`)
  } else if (to <= from) {
    report('to', 'must be after from')
  } else if (to - from > MOST_DAYS * DAY_MS) {
    report('from', `the range must be at most ${MOST_DAYS} days: ask for a part of it`)
  } else if ((to - from) / bucketMs > MOST_POINTS) {
    report(
      'bucket',
      `the range holds more than ${MOST_POINTS} buckets: choose a larger one, or a shorter range`,
    )
  }
}

function pointOf({ lateness, latest_ms, ...counts }: MinutesRow): StatsPoint {
  return { ...counts, lateness: latenessOf(addUp(lateness), latest_ms ?? 0) }
}

const minuteOf = (instant: Instant) => Math.floor(instant / MINUTE_MS) * MINUTE_MS
