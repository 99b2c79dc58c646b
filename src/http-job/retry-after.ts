const SHORTEST_MS = 1_000
const LONGEST_MS = 86_400_000

/**
 * How long a receiver asks to wait: a number of seconds or a date, which is taken by the receiver's own clock where it tells that. At
 * least a second, at most a day; null if it does not say.
 */
export function retryAfterMs(
  headers: { 'retry-after'?: string | undefined; date?: string | undefined },
  now: number,
): number | null {
  const text = headers['retry-after']?.trim() ?? ''
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : timeOf(text) - (timeOf(headers.date) || now)
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, SHORTEST_MS), LONGEST_MS)
}

/** What has no letters in it is no date of HTTP, whatever else it could be taken for. */
function timeOf(date = ''): number {
  return /[a-z]/i.test(date) ? Date.parse(date) : Number.NaN
}
