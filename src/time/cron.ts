import { readCronExpression } from './cron-expression.js'
import { CronPattern } from './cron-pattern.js'
import { quote, type Report } from './report.js'
import {
  type FoldPolicy,
  type GapPolicy,
  type MappedPattern,
  mapPattern,
  type WallPolicy,
} from './wall-mapping.js'
import { readZone, readZoneName } from './zone.js'

/** What a crontab line yields on the wall of a zone. */
export interface CronTiming {
  kind: 'cron'
  /** 5 fields, or 6 with leading seconds, in upper case with single spaces; or an alias such as `@daily`. */
  expression: string
  zone: string
  gap: GapPolicy
  fold: FoldPolicy
}

/** `cron`: a crontab line on the wall of a zone. */
export interface CronFields {
  /** Five fields (minute, hour, day of the month, month, day of the week), or six with leading seconds. */
  expression: string
  /**
   * The time zone on whose wall it is, by its IANA name.
   * @default 'UTC'
   */
  zone?: string | undefined
  /**
   * What becomes of a wall time that never shows: moved as far behind the gap as it lay inside it, or left out.
   * @default 'skip' if the hour field begins with `*` or matches every hour, else 'shift'
   */
  gap?: GapPolicy | undefined
  /**
   * Which showing of a wall time that shows twice counts.
   * @default 'both' if the hour field begins with `*` or matches every hour, else 'first'
   */
  fold?: FoldPolicy | undefined
}

/** Fixed hours happen exactly once a day; wildcard hours follow the clock on the wall. */
export const FIXED_HOURS_POLICY: WallPolicy = { gap: 'shift', fold: 'first' }
export const WILDCARD_HOURS_POLICY: WallPolicy = { gap: 'skip', fold: 'both' }

export function readCron(fields: CronFields, field: string, report: Report): CronTiming | undefined {
  const expression = readCronExpression(fields.expression, `${field}.expression`, report)
  const zone = readZoneName(fields.zone, `${field}.zone`, report)
  const defaults = expression?.wildcardHours ? WILDCARD_HOURS_POLICY : FIXED_HOURS_POLICY
  const gap = readChoice(fields.gap, ['shift', 'skip'], defaults.gap, `${field}.gap`, report)
  const fold = readChoice(fields.fold, ['first', 'second', 'both'], defaults.fold, `${field}.fold`, report)
  if (expression === undefined || zone === undefined || gap === undefined || fold === undefined)
    return undefined
  return { kind: 'cron', expression: expression.text, zone, gap, fold }
}

function readChoice<Choice extends string>(
  value: unknown,
  choices: readonly Choice[],
  preset: Choice,
  field: string,
  report: Report,
): Choice | undefined {
  if (value === undefined) return preset
  const found = choices.find((choice) => choice === value)
  if (found !== undefined) return found
  return report(field, `${quote(value)} – expected ${choices.map((choice) => `"${choice}"`).join(' or ')}`)
}

export function mapCron(timing: CronTiming, report: Report): MappedPattern | undefined {
  const expression = readCronExpression(timing.expression, 'timing.expression', report)
  const zone = readZone(timing.zone, 'timing.zone', report)
  if (expression === undefined || zone === undefined) return undefined
  return mapPattern(new CronPattern(expression), zone, timing)
}
