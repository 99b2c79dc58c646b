const format = new Intl.DateTimeFormat('en-CA', {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})

/** `2026-11-15 09:00:00` on the wall of whoever reads the terminal. */
export function localTime(instant: Date | string): string {
  return format.format(new Date(instant)).replace(', ', ' ')
}

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' })
const UNITS = [
  ['year', 365.25 * 86_400_000],
  ['month', 30.4375 * 86_400_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

/** What was two hours when it was asked for is still called so when the answer has come. */
const TWO = 1.95

/** `in 3 days`, `2 hours ago`: in the largest unit of which there are two, or else in the one below. */
export function distance(ms: number): string {
  const [unit, size] = UNITS.find(([, size]) => Math.abs(ms) >= TWO * size) ?? UNITS.at(-1)!
  return relative.format(Math.round(ms / size), unit)
}
