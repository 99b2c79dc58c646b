/** Numbers that follow from a seed alone: the same seed gives each stream the same numbers in the same order. */
export interface Random {
  /** A whole number from 0 to `count` - 1. */
  below(count: number): number
  /** A whole number from `first` to `last`. */
  between(first: number, last: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
  shuffled<T>(items: readonly T[]): T[]
}

/** Each stream is independent: what one user asks for does not hang on how often another one was asked. */
export function createRandom(seed: number, stream: string): Random {
  let state = (seed ^ hashOf(stream)) >>> 0

  // Mulberry32.
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  const below = (count: number) => Math.floor(next() * count)
  return {
    below,
    between: (first, last) => first + below(last - first + 1),
    chance: (probability) => next() < probability,
    pick: (items) => items[below(items.length)]!,
    shuffled(items) {
      const order = [...items]
      for (let left = order.length; left > 1; left--) {
        const place = below(left)
        ;[order[place], order[left - 1]] = [order[left - 1]!, order[place]!]
      }
      return order
    },
  }
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (const char of text) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193)
  return hash >>> 0
}
