import { type AfterFields, type AfterTiming, readAfter } from './after.js'
import { type CronFields, type CronTiming, readCron } from './cron.js'
import { didYouMean } from './did-you-mean.js'
import type { DurationInput } from './duration.js'
import { type EveryFields, type EveryTiming, readEvery } from './every.js'
import type { InstantInput } from './instant.js'
import { type OnceFields, type OnceTiming, readOnce } from './once.js'
import { quote, type Report, readOrThrow } from './report.js'
import { type RRuleFields, type RRuleTiming, readRRule } from './rrule.js'

export type { AfterTiming } from './after.js'
export { type Bounds, compileTiming, resolveLimit } from './bounds.js'
export type { CompiledTiming } from './compiled-timing.js'
export type { CronTiming } from './cron.js'
export { describe } from './describe.js'
export type { EveryTiming } from './every.js'
export type { OnceTiming } from './once.js'
export type { RRuleTiming } from './rrule.js'

/**
 * The rule that yields instants: plain JSON, discriminated by `kind`, with every default filled in, so that equal
 * timings are equal as data. Only `parseTiming` and the constructors make one.
 */
export type Timing = OnceTiming | EveryTiming | CronTiming | AfterTiming | RRuleTiming

/** The kinds that this program knows. */
export const TIMING_KINDS: readonly Timing['kind'][] = ['once', 'every', 'cron', 'after', 'rrule']

type Kind = Timing['kind']

interface TimingReader {
  fields: readonly string[]
  read: (fields: never, field: string, report: Report) => Timing | undefined
}

const READERS: Readonly<Record<Kind, TimingReader>> = {
  once: { fields: ['at', 'zone'], read: readOnce },
  every: { fields: ['every', 'anchor', 'zone'], read: readEvery },
  cron: { fields: ['expression', 'zone', 'gap', 'fold'], read: readCron },
  after: { fields: ['interval'], read: readAfter },
  rrule: { fields: ['rule', 'zone', 'begins'], read: readRRule },
}

const BOUNDS = ['startAt', 'endAt', 'limit']

/** Reads a timing from JSON. Throws `timing_invalid` with every mistake in `details.mistakes`. */
export function parseTiming(value: unknown, field = 'timing'): Timing {
  return readOrThrow('timing_invalid', (report) => readTiming(value, field, report))
}

/** As {@link parseTiming}, for callers that collect mistakes of their own beside these. */
export function readTiming(value: unknown, field: string, report: Report): Timing | undefined {
  const kinds = Object.keys(READERS)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return report(
      field,
      `${quote(value)} – expected an object such as { "kind": "every", "every": "15 minutes" }`,
    )
  }
  const { kind, ...fields } = value as Record<string, unknown>
  if (typeof kind !== 'string' || !Object.hasOwn(READERS, kind)) {
    const hint = typeof kind === 'string' ? didYouMean(kind, kinds) : ''
    return report(
      `${field}.kind`,
      `${quote(kind)} – expected ${kinds.map((name) => `"${name}"`).join(', ')}${hint}`,
    )
  }
  const reader = READERS[kind as Kind]
  let refused = false
  for (const name of Object.keys(fields)) {
    if (reader.fields.includes(name)) continue
    refused = true
    report(`${field}.${name}`, unknownField(name, kind, reader.fields))
  }
  const timing = reader.read(fields as never, field, report)
  return refused ? undefined : timing
}

function unknownField(name: string, kind: string, known: readonly string[]): string {
  if (BOUNDS.includes(name)) return 'belongs beside the timing, not inside it'
  return `is not a field of "${kind}", which has ${known.join(', ')}${didYouMean(name, known)}`
}

type Options<Fields, Given extends keyof Fields> = Omit<Fields, Given>

/** One instant: `once('2026-12-01T09:00', { zone: 'Europe/Paris' })`. */
export function once(at: InstantInput, options: Options<OnceFields, 'at'> = {}): OnceTiming {
  return parseTiming({ ...options, kind: 'once', at }) as OnceTiming
}

/** A fixed grid: `every('15 minutes')`, `every('1 month', { anchor: '2026-01-31T09:00', zone: 'Asia/Tokyo' })`. */
export function every(step: DurationInput, options: Options<EveryFields, 'every'> = {}): EveryTiming {
  return parseTiming({ ...options, kind: 'every', every: step }) as EveryTiming
}

/** A crontab line on the wall of a zone: `cron('0 9 * * MON-FRI', { zone: 'America/New_York' })`. */
export function cron(expression: string, options: Options<CronFields, 'expression'> = {}): CronTiming {
  return parseTiming({ ...options, kind: 'cron', expression }) as CronTiming
}

/** A span after the last run has ended: `after('6 hours')`. */
export function after(interval: AfterFields['interval']): AfterTiming {
  return parseTiming({ kind: 'after', interval }) as AfterTiming
}

/** An RFC 5545 rule on the wall of a zone: `rrule('FREQ=MONTHLY;BYDAY=-1FR', { zone: 'Europe/London' })`. */
export function rrule(rule: string, options: Options<RRuleFields, 'rule'> = {}): RRuleTiming {
  return parseTiming({ ...options, kind: 'rrule', rule }) as RRuleTiming
}
