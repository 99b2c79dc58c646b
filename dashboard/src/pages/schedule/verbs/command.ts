import { shellWord } from '../../../parts/quoted.ts'

/** `escapement schedules pause report:acme --reason '…'`; flags without a value are left out. */
export function commandOf(
  verb: string,
  names: readonly string[],
  flags: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(flags).flatMap(([flag, value]) =>
    value === undefined ? [] : [`--${flag}`, shellWord(value)],
  )
  return ['escapement schedules', verb, ...names.map(shellWord), ...given].join(' ')
}
