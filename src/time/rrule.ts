import { SECOND_MS, type WallTime } from './calendar.js'
import { DEFAULT_ANCHOR } from './every.js'
import { type DateTime, formatInstant, type Instant, type InstantInput, readInstant } from './instant.js'
import { RecurrenceSet } from './recurrence-set.js'
import { quote, type Report } from './report.js'
import { RulePattern } from './rrule-pattern.js'
import { formatRRule, type RRuleText, readRRuleText } from './rrule-text.js'
import { startSearch } from './search.js'
import { type MappedPattern, mapPattern, SHIFT_AND_FIRST, wallAt } from './wall-mapping.js'
import { readZone, readZoneName, type Zone } from './zone.js'

/** What an RFC 5545 recurrence rule yields on the wall of a zone. */
export interface RRuleTiming {
  kind: 'rrule'
  /** The rule alone (`FREQ=…`), or lines with DTSTART, RRULE, RDATE and EXDATE; dates are wall time in `zone`. */
  rule: string
  zone: string
  /** Where a rule without DTSTART begins, in UTC: a schedule sets it to its `startAt`, and takes it away without one. */
  begins?: string
}

/** `rrule`: a recurrence rule of RFC 5545 on the wall of a zone. */
export interface RRuleFields {
  /** The rule, with lines for DTSTART and EXDATE if there are any. */
  rule: string
  /**
   * The time zone on whose wall it is, by its IANA name.
   * @default the TZID of the text's dates, else 'UTC'
   */
  zone?: string | undefined
  /** In place of a DTSTART. */
  begins?: InstantInput | undefined
}

export function readRRule(fields: RRuleFields, field: string, report: Report): RRuleTiming | undefined {
  const text = readRRuleText(fields.rule, `${field}.rule`, report)
  const zone = readZone(fields.zone ?? text?.zone ?? 'UTC', `${field}.zone`, report)
  if (text === undefined || zone === undefined) return undefined
  if (text.zone !== undefined && readZoneName(text.zone, `${field}.rule`, report) !== zone.name) {
    return report(`${field}.rule`, `TZID=${text.zone} – differs from the zone "${zone.name}"`)
  }
  const begins =
    fields.begins === undefined ? undefined : readInstant(fields.begins, `${field}.begins`, report)
  if (fields.begins !== undefined && begins === undefined) return undefined
  startSearch()
  if (recurrence(text, zone).atOrAfter(Number.NEGATIVE_INFINITY) === Number.POSITIVE_INFINITY) {
    return report(
      `${field}.rule`,
      `${quote(fields.rule)} – never happens, or only after more steps than we take`,
    )
  }
  const timing: RRuleTiming = { kind: 'rrule', rule: formatRRule(text), zone: zone.name }
  return begins === undefined ? timing : beginningAt(timing, begins)
}

export function mapRRule(timing: RRuleTiming, report: Report): MappedPattern | undefined {
  const text = readRRuleText(timing.rule, 'timing.rule', report)
  const zone = readZone(timing.zone, 'timing.zone', report)
  if (text === undefined || zone === undefined) return undefined
  startSearch()
  const begins = timing.begins === undefined ? undefined : { instant: Date.parse(timing.begins) }
  return mapPattern(recurrence({ ...text, start: text.start ?? begins }, zone), zone, SHIFT_AND_FIRST)
}

/**
 * A rule without DTSTART begins at the schedule's `startAt`, and the text stays as it is: another `startAt` is another
 * beginning. Rules know whole seconds: a start between two of them counts from the later, so that it is not before
 * `startAt`.
 */
export function beginningAt(timing: RRuleTiming, startAt: Instant | null): RRuleTiming {
  const { begins: _, ...without } = timing
  const text = readRRuleText(timing.rule, 'timing.rule', () => undefined)
  if (startAt === null || text === undefined || text.start !== undefined) return without
  return { ...without, begins: formatInstant(Math.ceil(startAt / SECOND_MS) * SECOND_MS) }
}

const DEFAULT_START: WallTime = Date.parse(`${DEFAULT_ANCHOR}Z`)

function recurrence(text: RRuleText, zone: Zone): RecurrenceSet {
  const onWall = (date: DateTime) => ('wall' in date ? date.wall : wallAt(zone, date.instant))
  const start = text.start === undefined ? DEFAULT_START : onWall(text.start)
  const until = text.rule.until === undefined ? Number.POSITIVE_INFINITY : onWall(text.rule.until)
  const rule = new RulePattern(text.rule, start, until)
  return new RecurrenceSet(rule, text.added.map(onWall), text.excluded.map(onWall))
}
