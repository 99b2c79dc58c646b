/**
 * How fast timings are planned, beside three cron libraries in the same run.
 *
 *     node --import jiti/register bench/time.ts          all of it, about a minute
 *     node --import jiti/register bench/time.ts --quick  small enough for the tests
 *
 * Each figure is the median of its rounds with the slowest and fastest beside it. Rounds of the rivals take turns, so
 * that a busy machine hurts all of them alike.
 */
import { CronExpressionParser } from 'cron-parser'
import { Cron } from 'croner'
import { CronosExpression } from 'cronosjs'
import { EscapementError } from '../src/errors.js'
import { searchSteps } from '../src/time/search.js'
import { compileTiming, cron, every, parseTiming, rrule, type Timing } from '../src/time/timing.js'

export interface BenchSize {
  rounds: number
  /** Questions to our engine in one round; the libraries get a hundredth. */
  questions: number
  schedules: number
}

export const FULL: BenchSize = { rounds: 9, questions: 500_000, schedules: 100_000 }
export const QUICK: BenchSize = { rounds: 2, questions: 5_000, schedules: 5_000 }

export interface Figure {
  name: string
  unit: string
  median: number
  low: number
  high: number
}

const ZONE = 'America/New_York'
const EXPRESSIONS = ['* * * * *', '*/15 * * * *', '0 * * * *', '30 2 * * *', '0 9 * * MON-FRI', '0 0 1 * *']
const START = Date.UTC(2026, 0, 1)
const YEARS_3 = 3 * 365 * 86_400_000

type Next = (after: number) => number

export async function planningRates(size: BenchSize): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const expression of EXPRESSIONS) {
    const rivals = rivalsFor(expression)
    const rates = new Map<string, number[]>(rivals.map(({ name }) => [name, []]))
    for (let round = 0; round < size.rounds; round++) {
      for (const { name, next, share } of rivals) rates.get(name)!.push(rate(next, size.questions / share))
    }
    for (const [name, values] of rates) figures.push(figure(`${expression} · ${name}`, 'next/s', values))
  }
  return figures
}

function rivalsFor(expression: string): { name: string; next: Next; share: number }[] {
  const compiled = compileTiming(cron(expression, { zone: ZONE }))
  const croner = new Cron(expression, { timezone: ZONE, paused: true })
  const parsed = CronExpressionParser.parse(expression, { tz: ZONE })
  const cronos = CronosExpression.parse(expression, { timezone: ZONE })
  const rivals = [
    { name: 'escapement', next: (after: number) => compiled.next(after)!, share: 1 },
    { name: 'croner', next: (after: number) => croner.nextRun(new Date(after))!.getTime(), share: 100 },
    {
      name: 'cron-parser',
      next: (after: number) => {
        parsed.reset(new Date(after))
        return parsed.next().getTime()
      },
      share: 100,
    },
    {
      name: 'cronosjs',
      next: (after: number) => cronos.nextDate(new Date(after))!.getTime(),
      share: 100,
    },
  ]
  return rivals
}

/** Half of the questions go on from the last answer, as a scheduler does; half ask about any instant in three years. */
function rate(next: Next, questions: number): number {
  const count = Math.max(20, Math.round(questions / 2))
  const instants = Float64Array.from(
    { length: count },
    (_, index) => START + ((index * 7_919_000_003) % YEARS_3),
  )
  const began = performance.now()
  let at = START
  for (let index = 0; index < count; index++) {
    at = next(at)
    if (at > START + 10 * YEARS_3) at = START
    next(instants[index]!)
  }
  return (2 * count * 1000) / (performance.now() - began)
}

export function otherRates(size: BenchSize): Figure[] {
  const timings: Record<string, Timing> = {
    'every 15 minutes': every('15 minutes'),
    'every day at 09:00': every('1 day', { anchor: '2026-01-01T09:00', zone: ZONE }),
    'every month on the 31st': every('1 month', { anchor: '2026-01-31T09:00', zone: ZONE }),
    'FREQ=WEEKLY;BYDAY=MO,WE': rrule('FREQ=WEEKLY;BYDAY=MO,WE', { zone: ZONE }),
    'FREQ=MONTHLY;BYDAY=-1FR': rrule('FREQ=MONTHLY;BYDAY=-1FR', { zone: ZONE }),
  }
  return Object.entries(timings).map(([name, timing]) => {
    const compiled = compileTiming(timing)
    const rates = Array.from({ length: size.rounds }, () =>
      rate((after) => compiled.next(after) ?? START, size.questions / 5),
    )
    return figure(name, 'next/s', rates)
  })
}

/** Schedules at the top of an hour: each with a timing of its own, read from JSON, 50 of them distinct. */
export function herd(size: BenchSize): Figure[] {
  const zones = ['America/New_York', 'Europe/Paris', 'Asia/Kolkata', 'Australia/Lord_Howe', 'UTC']
  const distinct = Array.from({ length: 50 }, (_, index) =>
    JSON.stringify(
      cron(`${index} ${EXPRESSIONS[index % 6]!.split(' ').slice(1).join(' ')}`, { zone: zones[index % 5]! }),
    ),
  )
  const schedules = Array.from(
    { length: size.schedules },
    (_, index) => JSON.parse(distinct[index % 50]!) as Timing,
  )
  const plan = (now: number, startAt?: number) => {
    const began = performance.now()
    for (const timing of schedules)
      compileTiming(timing, startAt === undefined ? undefined : { startAt }).next(now)
    return performance.now() - began
  }
  const first = plan(START)
  const hours = Array.from({ length: size.rounds }, (_, round) => START + (round + 1) * 3_600_000)
  return [
    figure(`${size.schedules} schedules, first time`, 'ms', [first]),
    figure(
      `${size.schedules} schedules, 50 timings`,
      'ms',
      hours.map((now) => plan(now)),
    ),
    figure(
      `${size.schedules} schedules, each with a startAt`,
      'ms',
      hours.map((now) => plan(now + 86_400_000, START)),
    ),
  ]
}

const IMPOSSIBLE: unknown[] = [
  { kind: 'cron', expression: '0 0 30 2 *' },
  { kind: 'cron', expression: '0 0 31 2,4,6,9,11 *' },
  { kind: 'rrule', rule: 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30' },
  { kind: 'rrule', rule: 'FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30' },
  { kind: 'rrule', rule: 'FREQ=HOURLY;INTERVAL=24;BYHOUR=5' },
  { kind: 'rrule', rule: 'FREQ=YEARLY;BYYEARDAY=366;BYWEEKNO=20' },
  { kind: 'rrule', rule: 'FREQ=YEARLY;BYDAY=MO;BYSETPOS=300' },
]

export function refusals(size: BenchSize): (Figure & { steps: number })[] {
  return IMPOSSIBLE.map((timing) => {
    const times = Array.from({ length: size.rounds }, () => {
      const began = performance.now()
      refused(timing)
      return performance.now() - began
    })
    const { expression, rule } = timing as { expression?: string; rule?: string }
    return { ...figure(`refusing ${expression ?? rule}`, 'ms', times), steps: searchSteps() }
  })
}

function refused(timing: unknown): void {
  try {
    parseTiming(timing)
  } catch (error) {
    if (error instanceof EscapementError) return
    throw error
  }
  throw new Error(`${JSON.stringify(timing)} was not refused`)
}

function figure(name: string, unit: string, values: readonly number[]): Figure {
  const sorted = values.toSorted((a, b) => a - b)
  return { name, unit, median: sorted[Math.floor(sorted.length / 2)]!, low: sorted[0]!, high: sorted.at(-1)! }
}

function print(figures: readonly (Figure & { steps?: number })[]): void {
  for (const { name, unit, median, low, high, steps } of figures) {
    const digits = unit === 'ms' ? 3 : 0
    const [middle, from, to] = [median, low, high].map((value) =>
      value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits }),
    ) as [string, string, string]
    const suffix = steps === undefined ? '' : `, ${steps.toLocaleString('en')} steps`
    console.log(`${name.padEnd(52)} ${middle.padStart(12)} ${unit}  (${from} to ${to}${suffix})`)
  }
}

if (process.argv[1]?.endsWith('bench/time.ts')) {
  const size = process.argv.includes('--quick') ? QUICK : FULL
  console.log(`Node ${process.version}, zone data ${process.versions.tz}, ${size.rounds} rounds\n`)
  const rates = await planningRates(size)
  print(rates)
  print(otherRates(size))
  print(herd(size))
  print(refusals(size))
}
