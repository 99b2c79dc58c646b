import type { Result } from '../../../../../src/http-client/index.js'

type Given = Result<'getStatsHistory'>['points'][number]

export type Lateness = NonNullable<Given['lateness']>

/** One bar. */
export interface Point {
  from: Date
  succeeded: number
  failed: number
  /** Cancelled, and turned away by a gate. */
  others: number
  ended: number
  lateness: Lateness | null
}

/** All bars of a range, those in which nothing happened too. */
export function pointsOf(
  given: readonly Given[],
  { from, to, bucketMs }: { from: number; to: number; bucketMs: number },
): Point[] {
  const known = new Map(given.map((point) => [Date.parse(point.from), point]))
  return Array.from({ length: Math.round((to - from) / bucketMs) }, (_, index) => {
    const at = from + index * bucketMs
    const { succeeded = 0, failed = 0, cancelled = 0, skipped = 0, lateness = null } = known.get(at) ?? {}
    const others = cancelled + skipped
    return { from: new Date(at), succeeded, failed, others, ended: succeeded + failed + others, lateness }
  })
}
