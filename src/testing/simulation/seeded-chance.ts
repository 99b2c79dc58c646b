import type { Chance } from '../../chance.js'

/** Chance that a seed decides: the same draws in the same order, whenever and wherever. */
export interface SeededChance extends Chance {
  /** A whole number from 0 to, and without, `limit`. */
  below(limit: number): number
  happens(probability: number): boolean
  pick<T>(list: readonly T[]): T
}

/** `stream` tells apart those who draw for themselves: what one draws changes nothing for another. */
export function seededChance(seed: number, stream: string): SeededChance {
  const next = mulberry32(mix(seed, stream))
  const fraction = () => next() / 2 ** 32
  const below = (limit: number) => Math.floor(fraction() * limit)
  return {
    fraction,
    below,
    happens: (probability) => fraction() < probability,
    pick: (list) => list[below(list.length)]!,
    bytes(count) {
      const bytes = Buffer.alloc(count)
      for (let index = 0; index < count; index++) bytes[index] = next() >>> 24
      return bytes
    },
  }
}

/** Tommy Ettinger's generator: 32 bits of state, and good enough to order steps by. */
function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
}

/** FNV-1a over the seed and the name of the stream: neighbouring seeds begin far from each other. */
function mix(seed: number, stream: string): number {
  let hash = 0x811c9dc5
  for (const character of `${seed}|${stream}`) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193)
  return hash
}
