const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** How far back the charts look, and how much time a bar stands for. */
export interface Span {
  /** In the address; the first needs none. */
  name: string
  /** In words, after “in the”. */
  words: string
  ms: number
  bucketMs: number
  /** What a bar stands for, after “in”. */
  bucketWords: string
}

export const SPANS = [
  { name: 'hour', words: 'last hour', ms: HOUR_MS, bucketMs: MINUTE_MS, bucketWords: 'a minute' },
  { name: 'day', words: 'last day', ms: DAY_MS, bucketMs: 15 * MINUTE_MS, bucketWords: '15 minutes' },
  { name: 'week', words: 'last week', ms: 7 * DAY_MS, bucketMs: 2 * HOUR_MS, bucketWords: '2 hours' },
] as const satisfies readonly Span[]

/** What the address says; anybody can write one. */
export function spanOf(name: string | null): Span {
  return SPANS.find((span) => span.name === name) ?? SPANS[0]
}

/** In whole buckets of the clock, so that bars do not wander; the last one is under way. An hour has none that is. */
export function rangeOf({ ms, bucketMs }: Span, now: number): { from: number; to: number } {
  const to =
    bucketMs === MINUTE_MS ? Math.floor(now / bucketMs) * bucketMs : Math.ceil(now / bucketMs) * bucketMs
  return { from: to - ms, to }
}
