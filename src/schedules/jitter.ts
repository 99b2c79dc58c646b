/**
 * How long after its time a run is held back: a fraction of `spanMs` taken from its id, which is a hash of schedule,
 * scope and plan time. So every host agrees, deciding the occurrence again changes nothing, and a herd of
 * schedules with one plan time is spread evenly.
 */
export function jitterMs(runId: string, spanMs: number): number {
  if (spanMs <= 0) return 0
  // 48 bits: exact in a number. The version digit of the id comes after them.
  const fraction = Number.parseInt(runId.slice(0, 8) + runId.slice(9, 13), 16) / 2 ** 48
  return Math.floor(fraction * spanMs)
}
