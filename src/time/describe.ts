import { toString as cronInWords } from 'cronstrue'
import type { WallTime } from './calendar.js'
import { civilDate, DAY_MS, MINUTE_MS } from './calendar.js'
import { type CronTiming, FIXED_HOURS_POLICY, WILDCARD_HOURS_POLICY } from './cron.js'
import { expandAlias, readCronExpression } from './cron-expression.js'
import { describeRule, MONTH_NAMES } from './describe-rrule.js'
import { DEFAULT_ANCHOR, type EveryTiming } from './every.js'
import { formatWall, readDateTime } from './instant.js'
import { readRRuleText } from './rrule-text.js'
import type { RRuleTiming, Timing } from './timing.js'
import { wallAt } from './wall-mapping.js'
import { zoneNamed } from './zone.js'

/** The timing in plain English: "At 09:00, Monday to Friday, New York time". */
export function describe(timing: Timing): string {
  switch (timing.kind) {
    case 'once':
      return `Once, on ${dateInWords(timing.at, timing.zone)}, ${zoneInWords(timing.zone)}`
    case 'every':
      return describeEvery(timing)
    case 'cron':
      return describeCron(timing)
    case 'after':
      return `${timing.interval} after the last run has ended`
    case 'rrule':
      return describeRRule(timing)
  }
}

function describeEvery({ every, anchor, zone }: EveryTiming): string {
  const step = `Every ${/^1 [a-z]+$/.test(every) ? every.slice(2) : every}`
  const elapsed = /hour|minute|second/.test(every)
  if (elapsed && anchor === DEFAULT_ANCHOR) return step
  return `${step}, counted from ${dateInWords(anchor, zone)}, ${zoneInWords(zone)}`
}

function describeCron(timing: CronTiming): string {
  const words = joinDays(cronWords(timing.expression), timing)
  return [words, zoneInWords(timing.zone), ...policyInWords(timing)].join(', ')
}

function cronWords(expression: string): string {
  try {
    return cronInWords(expandAlias(expression), { use24HourTimeFormat: true }).replaceAll(' through ', ' to ')
  } catch {
    // Some texts that we take have no words in the library, such as `15W` in a list.
    return `At the times of the cron expression "${expression}"`
  }
}

/** The words leave open whether two day fields widen or narrow each other; ours says which. */
function joinDays(words: string, { expression }: CronTiming): string {
  const [dayOfMonth = '', , dayOfWeek = ''] = expandAlias(expression).split(' ').slice(-3)
  const narrowed = dayOfMonth.startsWith('*') || dayOfWeek.startsWith('*')
  const joined = words.replace(/, and on (?=[^,]*$)/, narrowed ? ', but only on ' : ', or on ')
  return /^At [\d:, and]+$/.test(joined) ? `${joined}, every day` : joined
}

function policyInWords({ expression, gap, fold }: CronTiming): string[] {
  const wildcard = readCronExpression(expression, '', () => undefined)?.wildcardHours
  const preset = wildcard ? WILDCARD_HOURS_POLICY : FIXED_HOURS_POLICY
  const words: string[] = []
  if (gap !== preset.gap) words.push(`${gap === 'skip' ? 'left out' : 'moved'} where the clock skips it`)
  if (fold !== preset.fold) {
    words.push(`${fold === 'both' ? 'both times' : `the ${fold} time`} where the clock repeats it`)
  }
  return words
}

function describeRRule({ rule, zone, begins }: RRuleTiming): string {
  const text = readRRuleText(rule, 'timing.rule', () => undefined)
  if (text === undefined) return rule
  const first = text.start ?? (begins === undefined ? undefined : { instant: Date.parse(begins) })
  const start = first && ('wall' in first ? first.wall : wallAt(zoneNamed(zone), first.instant))
  const words = [describeRule(text.rule, start)]
  if (text.added.length > 0) words.push(`with ${counted(text.added.length, 'added date')}`)
  if (text.excluded.length > 0) words.push(`without ${counted(text.excluded.length, 'date')}`)
  if (start !== undefined) words.push(`from ${wallDate(start)} on`)
  return [...words, zoneInWords(zone)].join(', ')
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function dateInWords(text: string, zone: string): string {
  const read = readDateTime(text, 'timing', () => undefined)
  if (read === undefined) return text
  const wall = 'wall' in read ? read.wall : wallAt(zoneNamed(zone), read.instant)
  return `${wallDate(wall)} at ${formatWall(wall).slice(11, wall % MINUTE_MS === 0 ? 16 : undefined)}`
}

function wallDate(wall: WallTime): string {
  const { year, month, day } = civilDate(Math.floor(wall / DAY_MS))
  return `${day} ${MONTH_NAMES[month - 1]} ${year}`
}

/** "New York time"; UTC under any of its names is "UTC". */
function zoneInWords(zone: string): string {
  if (/^(Etc\/)?(UTC|GMT|UCT|Zulu|Universal|Greenwich)$/i.test(zone)) return 'UTC'
  if (/^Etc\//i.test(zone)) return zone
  return `${zone.split('/').at(-1)!.replaceAll('_', ' ')} time`
}
