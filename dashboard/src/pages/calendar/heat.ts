/** The most that each level holds, the palest first: each has twice as much as the one before it. */
export function levelsUpTo(most: number): number[] {
  const tops = [16, 8, 4, 2, 1].map((part) => Math.ceil(most / part))
  return most === 0 ? [] : [...new Set(tops)]
}

/** From 0 for nothing to 5 for what is next to the most; of few levels the darkest are left out. */
export function levelOf(runs: number, levels: readonly number[]): number {
  if (runs === 0) return 0
  const index = levels.findIndex((top) => runs <= top)
  return (index === -1 ? levels.length - 1 : index) + 1
}

/** On all of them the text can be read, in both schemes. */
export const HEATS = [
  'bg-surface text-muted',
  'bg-accent/15 text-ink',
  'bg-accent/25 text-ink',
  'bg-accent/37 text-ink',
  'bg-accent/50 text-ink',
  'bg-accent text-accent-ink',
] as const
