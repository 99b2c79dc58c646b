import type { Mistake } from '../../../../src/errors.js'
import { FIXED_HOURS_POLICY, WILDCARD_HOURS_POLICY } from '../../../../src/time/cron.js'
import { readCronExpression } from '../../../../src/time/cron-expression.js'
import { DEFAULT_ANCHOR } from '../../../../src/time/every.js'
import { parseTiming } from '../../../../src/time/timing.js'
import type { FoldPolicy, GapPolicy } from '../../../../src/time/wall-mapping.js'
import type { Schedule } from '../../api/client.ts'
import { type CalendarFields, calendarOf, MONDAY_AT_NINE, ruleOf } from './calendar-rule.ts'
import { jsonMistake } from './json-mistake.ts'

type Timing = Schedule['timing']
/** `json` is for what the fields cannot hold. */
export type TimingKind = Timing['kind'] | 'json'

/** What is typed, of every kind: who looks at another one finds what was there before. */
export interface TimingForm {
  kind: TimingKind
  zone: string
  every: string
  /** Empty for the default. */
  anchor: string
  calendar: CalendarFields
  /** In place of the fields, for experts. */
  rule: string
  isRuleTyped: boolean
  expression: string
  /** Empty for what the expression asks for. */
  gap: GapPolicy | ''
  fold: FoldPolicy | ''
  at: string
  interval: string
  json: string
}

export function newTimingForm(zone: string): TimingForm {
  return {
    kind: 'every',
    zone,
    every: '1 hour',
    anchor: '',
    calendar: MONDAY_AT_NINE,
    rule: '',
    isRuleTyped: false,
    expression: '',
    gap: '',
    fold: '',
    at: '',
    interval: '1 hour',
    json: '',
  }
}

/** The zone in which its times are read. */
export function zoneOfForm({ kind, zone }: TimingForm): string {
  return kind === 'after' || kind === 'json' ? 'UTC' : zone.trim()
}

export interface ReadTiming {
  /** As the API takes it; what is at its default is left out. */
  timing: unknown
  /** What keeps the fields from being a timing at all. What is wrong with a timing, `parseTiming` says. */
  mistakes: readonly Mistake[]
}

export function timingOf(form: TimingForm): ReadTiming {
  const { kind, anchor, gap, fold } = form
  const zone = form.zone.trim()
  const inZone = zone === 'UTC' ? {} : { zone }
  switch (kind) {
    case 'every': {
      const from = anchor === '' ? {} : { anchor }
      return read({ kind, every: form.every.trim(), ...from, ...inZone })
    }
    case 'rrule': {
      const made = form.isRuleTyped ? { rule: form.rule.trim() } : ruleOf(form.calendar)
      if ('mistake' in made) return wrong('timing.rule', made.mistake)
      return read({ kind, rule: made.rule, ...inZone })
    }
    case 'cron': {
      const policy = { ...(gap !== '' && { gap }), ...(fold !== '' && { fold }) }
      return read({ kind, expression: form.expression.trim(), ...inZone, ...policy })
    }
    case 'once':
      return read({ kind, at: form.at, ...inZone })
    case 'after':
      return read({ kind, interval: form.interval.trim() })
    case 'json': {
      const mistake = jsonMistake(form.json)
      return mistake === undefined ? read(JSON.parse(form.json)) : wrong('timing', mistake)
    }
  }
}

const read = (timing: unknown): ReadTiming => ({ timing, mistakes: [] })
const wrong = (field: string, message: string): ReadTiming => ({
  timing: undefined,
  mistakes: [{ field, message }],
})

/** The fields of a timing, or its JSON where they cannot hold it. */
export function timingFormOf(timing: Timing): TimingForm {
  const form = { ...newTimingForm('UTC'), ...fieldsOf(timing) }
  return holds(form, timing) ? form : { ...form, kind: 'json', json: JSON.stringify(timing, null, 2) }
}

function fieldsOf(timing: Timing): Partial<TimingForm> {
  switch (timing.kind) {
    case 'every':
      return { ...timing, anchor: timing.anchor === DEFAULT_ANCHOR ? '' : timing.anchor }
    case 'cron':
      return { ...timing, ...ownPolicy(timing) }
    case 'rrule': {
      const { kind, zone, rule } = timing
      const calendar = calendarOf(rule)
      return { kind, zone, rule, isRuleTyped: calendar === undefined, ...(calendar && { calendar }) }
    }
    default:
      return timing
  }
}

/** What differs from what the expression asks for. */
function ownPolicy({ expression, gap, fold }: Extract<Timing, { kind: 'cron' }>) {
  const isWildcard = readCronExpression(expression, '', () => undefined)?.wildcardHours
  const preset = isWildcard ? WILDCARD_HOURS_POLICY : FIXED_HOURS_POLICY
  return { gap: gap === preset.gap ? ('' as const) : gap, fold: fold === preset.fold ? ('' as const) : fold }
}

function holds(form: TimingForm, timing: Timing): boolean {
  try {
    return sorted(parseTiming(timingOf(form).timing)) === sorted(timing)
  } catch {
    // A zone, or a kind, that the server knows may be too new for the browser.
    return false
  }
}

/** Where a rule begins follows from the start of its schedule. */
function sorted({ begins: _, ...timing }: { begins?: unknown } & object): string {
  return JSON.stringify(Object.entries(timing).sort(([a], [b]) => (a < b ? -1 : 1)))
}
