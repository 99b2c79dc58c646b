import { count } from '../../time/format.ts'

export type Totals = Readonly<Record<string, number>>

/** What several runs counted, together. */
export function summed(totals: readonly (Totals | null)[]): Totals {
  const sums = new Map<string, number>()
  for (const each of totals) {
    for (const [name, value] of Object.entries(each ?? {})) sums.set(name, (sums.get(name) ?? 0) + value)
  }
  return Object.fromEntries(sums)
}

/** `rows 1,200, errors 3`; empty for none. */
export function totalsWords(totals: Totals | null): string {
  return Object.entries(totals ?? {})
    .map(([name, value]) => `${name} ${count(value)}`)
    .join(', ')
}
