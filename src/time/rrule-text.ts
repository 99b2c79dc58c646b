import { didYouMean } from './did-you-mean.js'
import { formatIcsDate, readIcsDate } from './ics-date.js'
import type { DateTime } from './instant.js'
import { quote, type Report } from './report.js'
import { type RuleParts, readRuleParts } from './rrule-parts.js'

/** An RFC 5545 recurrence: what its lines say, before any zone is applied. */
export interface RRuleText {
  readonly rule: RuleParts
  /** The rule part alone, upper case. */
  readonly ruleText: string
  readonly start: DateTime | undefined
  /** RDATE: wall times beside those of the rule. */
  readonly added: readonly DateTime[]
  /** EXDATE: wall times that are taken out again. */
  readonly excluded: readonly DateTime[]
  /** TZID of the dates, if any has one. */
  readonly zone: string | undefined
}

const LONGEST_TEXT = 10_000
const LINES = ['RRULE', 'DTSTART', 'EXDATE', 'RDATE']

/** Reads `FREQ=…` alone, or the lines DTSTART, RRULE, EXDATE and RDATE. */
export function readRRuleText(input: unknown, field: string, report: Report): RRuleText | undefined {
  if (typeof input !== 'string' || input.length > LONGEST_TEXT) {
    return report(field, `${quote(input)} – expected an RFC 5545 rule such as "FREQ=MONTHLY;BYDAY=-1FR"`)
  }
  const read = { rules: [] as string[], DTSTART: [], RDATE: [], EXDATE: [] } as Record<
    'DTSTART' | 'RDATE' | 'EXDATE',
    DateTime[]
  > & { rules: string[] }
  const zones = new Set<string>()
  let refused = false
  const refuse = (problem: string) => {
    refused = true
    return report(field, problem)
  }
  for (const line of unfolded(input)) {
    const { name, parameters, value } = splitLine(line)
    if (name === 'RRULE') read.rules.push(value.toUpperCase())
    else if (name === 'DTSTART' || name === 'EXDATE' || name === 'RDATE') {
      for (const parameter of parameters) {
        if (/^TZID=/i.test(parameter)) zones.add(parameter.slice(5))
        else if (!/^VALUE=DATE(-TIME)?$/i.test(parameter))
          refuse(`${quote(line)} – ${quote(parameter)} is not understood`)
      }
      for (const text of value.split(',')) {
        const date = readIcsDate(text)
        if (typeof date === 'string') refuse(`${quote(line)} – ${date}`)
        else read[name].push(date)
      }
    } else {
      refuse(`${quote(line)} – expected a line with ${LINES.join(', ')}${didYouMean(name, LINES)}`)
    }
  }
  if (read.rules.length !== 1)
    refuse(`${quote(input)} – has ${read.rules.length} rules; expected one, beginning with FREQ=`)
  if (read.DTSTART.length > 1) refuse(`${quote(input)} – has more than one DTSTART`)
  if (zones.size > 1) refuse(`${quote(input)} – names several zones: ${[...zones].join(', ')}`)
  const rule = refused ? undefined : readRuleParts(read.rules[0]!, field, report)
  if (rule === undefined) return undefined
  return {
    rule,
    ruleText: read.rules[0]!,
    start: read.DTSTART[0],
    added: read.RDATE,
    excluded: read.EXDATE,
    zone: [...zones][0],
  }
}

/** Long lines are folded in calendar files: a line that begins with a blank continues the one before. */
function unfolded(text: string): string[] {
  return text
    .replace(/\r?\n[ \t]/g, '')
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function splitLine(line: string): { name: string; parameters: string[]; value: string } {
  const colon = line.indexOf(':')
  if (colon < 0)
    return {
      name: /^FREQ=|;FREQ=/i.test(line) ? 'RRULE' : line.split('=', 1)[0]!,
      parameters: [],
      value: line,
    }
  const [name = '', ...parameters] = line.slice(0, colon).split(';')
  return { name: name.toUpperCase(), parameters, value: line.slice(colon + 1) }
}

/** The canonical text: only the rule if it stands alone, else one line each, dates without a zone of their own. */
export function formatRRule({ start, ruleText, added, excluded }: RRuleText): string {
  if (start === undefined && added.length === 0 && excluded.length === 0) return ruleText
  return [
    ...(start === undefined ? [] : [`DTSTART:${formatIcsDate(start)}`]),
    `RRULE:${ruleText}`,
    ...(added.length === 0 ? [] : [`RDATE:${added.map(formatIcsDate).join(',')}`]),
    ...(excluded.length === 0 ? [] : [`EXDATE:${excluded.map(formatIcsDate).join(',')}`]),
  ].join('\n')
}
