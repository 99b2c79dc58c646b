/**
 * How long after its time a run is held back: a fraction of `spanMs` taken from its id, which ends in a hash of
 * schedule, scope and plan time. So every host agrees, deciding the occurrence again changes nothing, and a herd of
 * schedules with one plan time is spread evenly.
 */
export function jitterMs(runId: string, spanMs: number): number {
  if (spanMs <= 0) return 0
  // The last 48 bits: all hash, and exact in a number.
  const fraction = Number.parseInt(runId.slice(24), 16) / 2 ** 48
  return Math.floor(fraction * spanMs)
}
