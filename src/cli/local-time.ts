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
export function localTime(instant: Date): string {
  return format.format(instant).replace(', ', ' ')
}
