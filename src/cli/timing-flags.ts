import { type Command, Option } from 'commander'
import { EscapementError } from '../errors.js'
import { parseTiming, type Timing } from '../time/index.js'

export interface TimingFlags {
  cron?: string
  every?: string
  at?: string
  after?: string
  rrule?: string
  zone?: string
  anchor?: string
  gap?: string
  fold?: string
}

/** Flag → the timing's kind and the field that the flag's value goes to. */
const KINDS = {
  cron: ['cron', 'expression'],
  every: ['every', 'every'],
  at: ['once', 'at'],
  after: ['after', 'interval'],
  rrule: ['rrule', 'rule'],
} as const
const DETAILS = ['zone', 'anchor', 'gap', 'fold'] as const

export function withTimingFlags(command: Command): Command {
  return command
    .option('--cron <expression>', 'five fields, or six with leading seconds: "0 9 * * MON-FRI"')
    .option('--every <duration>', 'a fixed grid: "15 minutes", "1 month"')
    .option('--at <time>', 'once: "2026-12-01T09:00"')
    .option('--after <duration>', 'that long after each completion: "6 hours"')
    .option('--rrule <rule>', 'a recurrence rule of RFC 5545: "FREQ=MONTHLY;BYDAY=-1FR"')
    .option('--zone <name>', 'time zone of the timing: "America/New_York" (default: "UTC")')
    .option('--anchor <time>', 'where the grid of --every begins (default: 2001-01-01T00:00)')
    .addOption(new Option('--gap <policy>', 'wall time that never shows').choices(['shift', 'skip']))
    .addOption(
      new Option('--fold <policy>', 'wall time that shows twice').choices(['first', 'second', 'both']),
    )
}

const kindsIn = (flags: TimingFlags) =>
  (Object.keys(KINDS) as (keyof typeof KINDS)[]).filter((name) => flags[name] !== undefined)
const detailsIn = (flags: TimingFlags) =>
  Object.fromEntries(DETAILS.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]])))

/** Whether they say something of a timing, and not of what kind: only what there is can be changed so. */
export function isPartOfTiming(flags: TimingFlags): boolean {
  return kindsIn(flags).length === 0 && Object.keys(detailsIn(flags)).length > 0
}

/** The timing as the flags say it, unchecked; undefined where they say none. A part of one changes `current`. */
export function timingFieldsOf(flags: TimingFlags, current?: object): object | undefined {
  const [flag, ...others] = kindsIn(flags)
  const details = detailsIn(flags)
  if (flag === undefined && Object.keys(details).length === 0) return undefined
  if (flag === undefined && current !== undefined) return { ...current, ...details }
  if (flag === undefined || others.length > 0) throw exactlyOne(kindsIn(flags).length)
  const [kind, field] = KINDS[flag]
  return { kind, [field]: flags[flag], ...details }
}

/** The timing that the flags say, where there must be one. */
export function requiredTiming(flags: TimingFlags): Timing {
  const fields = timingFieldsOf(flags)
  if (fields === undefined) throw exactlyOne(0)
  return parseTiming(fields, 'timing')
}

function exactlyOne(given: number): EscapementError {
  const all = Object.keys(KINDS).map((name) => `--${name}`)
  return new EscapementError('option_invalid', {
    message: `Give exactly one of ${all.join(', ')}${given > 1 ? `, not ${given}` : ''}.`,
  })
}
