/**
 * A database as large users have it, filled by statements over numbers after the migrations. Every ledger is right: each schedule
 * has its last plan times by its own timing, each with one answer, so that the audit has nothing to find but what fell due since.
 */
import { cron, type Escapement, every, rrule } from '../../src/index.js'
import { parseSchedule } from '../../src/schedules/schedule.js'
import { compileTiming, type Timing } from '../../src/time/timing.js'
import { ZONE_DATA, zoneDataOf } from '../../src/time/zone-data.js'
import * as statements from './fill-statements.js'

export interface FillSize {
  schedules: number
  /** Of all states; a fiftieth of them is open. */
  runs: number
  /** So many of them are of each schedule in `BUSY`. */
  busy: number
  /** Rows of the user's own table. */
  posts: number
}

export const JOBS = [
  'send-report',
  'make-invoice',
  'sync-orders',
  'send-digest',
  'clean-up',
  'import-feed',
  'back-up',
  'close-books',
] as const

/** Those whose runs are too many to be read together. */
export const BUSY = ['poll:warehouse-north', 'poll:warehouse-south', 'poll:exchange-rates'] as const

const DAY_MS = 86_400_000
/** As long as history is kept here; plan times before it were pruned. */
const KEPT_MS = 35 * DAY_MS
const MOST_PAST = 40
const TIMINGS = 1_000
const ZONES = [
  'America/New_York',
  'Europe/Berlin',
  'Asia/Tokyo',
  'UTC',
  'America/Sao_Paulo',
  'Asia/Kolkata',
  'Australia/Sydney',
  'Europe/London',
]

type Query = Pick<Escapement['database'], 'query'>

export async function fill(database: Query, size: FillSize, tell: (line: string) => void): Promise<void> {
  const [clock] = await database.query<{ now: Date }>(`select date_trunc('second', now()) as now`)
  const now = clock!.now
  const steps: [string, string, Parameters<Query['query']>[1]][] = [
    ['timings', statements.TIMINGS, [JSON.stringify(timingsAt(now.getTime()))]],
    ['numbers', statements.NUMBERED, [size.schedules, now, BUSY.length, size.busy]],
    ['schedules', statements.SCHEDULES, [now, [...BUSY]]],
    ['cursors', statements.CURSORS, []],
    ['changes', statements.CHANGES, []],
    ['more changes', statements.MORE_CHANGES, [BUSY.length, Math.ceil(size.busy / 20)]],
    ['plan times', statements.PLANNED, [now]],
    ['direct runs', statements.DIRECT, [size.runs, now]],
    ['the order of time', 'create index on filling.planned (at)', []],
    ['skips', statements.SKIPS, []],
  ]
  await database.query('create schema filling')
  for (const [what, text, params] of steps) {
    tell(what)
    await database.query(text, params)
    await database.query('analyze')
  }
  // In the order of time, as they would have come about.
  for (let days = KEPT_MS / DAY_MS; days > 0; days--) {
    const from = new Date(now.getTime() - days * DAY_MS)
    tell(`runs, ${days} days ago`)
    await database.query(statements.RUNS, [from, new Date(from.getTime() + DAY_MS), now])
    await database.query(statements.ATTEMPTS, [from, new Date(from.getTime() + DAY_MS)])
  }
  tell('workers, tokens, posts')
  await database.query(statements.WORKERS, [[...JOBS]])
  await database.query(statements.TOKENS)
  await database.query(statements.MINUTES, [now])
  for (const text of statements.POSTS) await database.query(text.replace('{posts}', String(size.posts)))
  await database.query('drop schema filling cascade')
  tell('vacuum')
  await database.query('vacuum analyze')
  await database.query('checkpoint')
}

/** Most of them daily, each with its last plan times, newest first, and the next. */
function timingsAt(now: number) {
  const timings = Array.from({ length: TIMINGS }, (_, index) => timingOf(index))
  const busy = BUSY.map(() => every('15 seconds'))
  return [...timings, ...busy].map((given, number) => {
    const { timing, policies } = parseSchedule('any', { job: 'any', timing: given })
    const compiled = compileTiming(timing)
    const past: string[] = []
    for (let at = compiled.next(now - KEPT_MS); at !== null && at < now; at = compiled.next(at)) {
      past.push(new Date(at).toISOString())
    }
    const next = compiled.next(now - 1)
    return {
      number,
      timing,
      kind: timing.kind,
      policies: { ...policies, breaker: number % 4 === 0 ? { failures: 3, cooldown: null } : null },
      zone_data: zoneDataOf(timing, ZONE_DATA),
      past: past.reverse().slice(0, MOST_PAST),
      next: next === null ? null : new Date(next).toISOString(),
    }
  })
}

function timingOf(index: number): Timing {
  const zone = ZONES[index % ZONES.length]!
  const [minute, hour] = [(index * 7) % 60, (index * 5) % 24]
  const at = `${minute} ${hour} * *`
  const kind = index % 20
  if (kind < 12) return cron(`${at} *`, { zone })
  if (kind < 15) return cron(`${at} MON-FRI`, { zone })
  if (kind < 17)
    return every(`${6 * (1 + (index % 2))} hours`, {
      anchor: `2025-01-01T0${index % 6}:${String(minute).padStart(2, '0')}:00Z`,
    })
  if (kind === 17) return cron(`${minute} * * * *`, { zone })
  if (kind === 18) return cron(`${at} ${index % 7}`, { zone })
  return rrule(`FREQ=WEEKLY;BYDAY=MO,TH;BYHOUR=${hour};BYMINUTE=${minute};BYSECOND=0`, { zone })
}
