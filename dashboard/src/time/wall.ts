const MINUTE_MS = 60_000

/** An instant as an input for date and time takes it: on the wall here. */
export function onWall(instant: string | undefined): string {
  if (instant === undefined) return ''
  const at = new Date(instant)
  const shifted = new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS)
  return shifted.toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length)
}

/** The other way; empty for what is none. */
export function fromWall(text: string): string {
  const at = new Date(text)
  return Number.isNaN(at.getTime()) ? '' : at.toISOString()
}
