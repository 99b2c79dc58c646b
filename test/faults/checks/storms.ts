import type { Window } from '../history.js'

/**
 * By when something must have happened, faults considered. In peace that is `lateMs` after its time. A fault gives until
 * `recoveryMs` after its end; faults that come one upon the other are one storm, and only its end counts, but for what lasts
 * longer than `mostMs`: something gets through every storm.
 */
export interface Storms {
  dueBy(at: number): number
  /** Whether nothing was broken then, nor had been a moment ago. */
  isPeaceful(at: number): boolean
}

export function stormsOf(
  faults: readonly Window[],
  { lateMs, recoveryMs, mostMs }: { lateMs: number; recoveryMs: number; mostMs: number },
): Storms {
  const storms: { from: number; to: number }[] = []
  for (const { t0, t1 } of faults.toSorted((a, b) => a.t0 - b.t0)) {
    const to = t1 + recoveryMs + lateMs
    const last = storms.at(-1)
    if (last && t0 <= last.to) last.to = Math.max(last.to, to)
    else storms.push({ from: t0, to })
  }
  const stormAt = (instant: number) => storms.find(({ from, to }) => from <= instant && instant < to)
  return {
    dueBy: (at) => Math.min(stormAt(at + lateMs)?.to ?? at + lateMs, at + mostMs),
    isPeaceful: (at) => stormAt(at + lateMs) === undefined,
  }
}
