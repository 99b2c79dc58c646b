import type { CompiledTiming } from './compiled-timing.js'
import type { Timing } from './timing.js'

/** By the field that tells most timings apart, then by zone; the few that are left are compared. */
type Generation = Map<string, Map<string, CompiledTiming[]>>

/**
 * Compiled timings kept for reuse, in two generations: when the young one is full it becomes the old one, and what is
 * still asked for moves back. That bounds memory like least-recently-used, without a write for each hit.
 *
 * Found by field and not by a text made for the purpose: making and hashing that text took longer than planning,
 * and a timing that comes back from `jsonb` has its keys in another order.
 */
export class TimingCache {
  readonly #generationSize: number
  #young: Generation = new Map()
  #old: Generation = new Map()
  #youngCount = 0

  /** @param kept - timings of both generations together, at most. */
  constructor(kept: number) {
    this.#generationSize = Math.floor(kept / 2)
  }

  get(timing: Timing): CompiledTiming | undefined {
    const found = find(this.#young, timing)
    if (found !== undefined) return found
    const older = find(this.#old, timing)
    if (older !== undefined) this.set(older)
    return older
  }

  set(compiled: CompiledTiming): void {
    if (this.#youngCount >= this.#generationSize) {
      this.#old = this.#young
      this.#young = new Map()
      this.#youngCount = 0
    }
    const { timing } = compiled
    const key = distinctField(timing)
    let byZone = this.#young.get(key)
    if (byZone === undefined) {
      byZone = new Map()
      this.#young.set(key, byZone)
    }
    const zone = zoneOf(timing)
    const alike = byZone.get(zone)
    if (alike === undefined) byZone.set(zone, [compiled])
    else alike.push(compiled)
    this.#youngCount += 1
  }
}

function find(generation: Generation, timing: Timing): CompiledTiming | undefined {
  const alike = generation.get(distinctField(timing))?.get(zoneOf(timing))
  if (alike === undefined) return undefined
  for (const compiled of alike) if (sameRest(compiled.timing, timing)) return compiled
  return undefined
}

function distinctField(timing: Timing): string {
  switch (timing.kind) {
    case 'once':
      return timing.at
    case 'every':
      return timing.anchor
    case 'cron':
      return timing.expression
    case 'after':
      return timing.interval
    case 'rrule':
      return timing.rule
  }
}

function zoneOf(timing: Timing): string {
  return timing.kind === 'after' ? '' : timing.zone
}

/** Compares what {@link distinctField} and {@link zoneOf} leave open. */
function sameRest(a: Timing, b: Timing): boolean {
  if (a.kind === 'cron' && b.kind === 'cron') return a.gap === b.gap && a.fold === b.fold
  if (a.kind === 'every' && b.kind === 'every') return a.every === b.every
  if (a.kind === 'rrule' && b.kind === 'rrule') return a.begins === b.begins
  return a.kind === b.kind
}
