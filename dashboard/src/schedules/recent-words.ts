import type { FoundSchedule } from '../api/client.ts'

export type RecentOccurrence = NonNullable<FoundSchedule['recent']>[number]

/** How it is drawn: what ended well, badly, is under way, was taken back, or never became a run. */
export type MarkKind = 'good' | 'bad' | 'open' | 'cancelled' | 'skipped'

type Becoming = NonNullable<RecentOccurrence['runState']> | NonNullable<RecentOccurrence['reason']>

/** Of each what it is called, in the order in which they are told. A run that its gate turned away is no other than a gate. */
const WORDS: Readonly<Record<Becoming, readonly [string, MarkKind]>> = {
  succeeded: ['succeeded', 'good'],
  failed: ['failed', 'bad'],
  retrying: ['retrying', 'open'],
  running: ['running', 'open'],
  pending: ['waiting', 'open'],
  cancelled: ['cancelled', 'cancelled'],
  skipped: ['kept back by a gate', 'skipped'],
  gate: ['kept back by a gate', 'skipped'],
  missed: ['missed', 'skipped'],
  expired: ['expired', 'skipped'],
  overlap: ['overlapping', 'skipped'],
  operator: ['skipped by an operator', 'skipped'],
  paused: ['while paused', 'skipped'],
  broken: ['while broken', 'skipped'],
  no_scope: ['without a scope', 'skipped'],
}

const becomingOf = ({ runState, reason }: RecentOccurrence): Becoming => runState ?? reason ?? 'missed'

export const kindOf = (occurrence: RecentOccurrence): MarkKind => WORDS[becomingOf(occurrence)][1]

export const wordOf = (occurrence: RecentOccurrence): string => WORDS[becomingOf(occurrence)][0]

/** Whether it stands for more plan times than one. */
export const isRange = ({ firstPlanTime, planTime }: RecentOccurrence): boolean => firstPlanTime !== planTime

/** `Last 30: 27 succeeded, 2 failed, several missed`. */
export function recentInWords(recent: readonly RecentOccurrence[]): string {
  const counts = new Map<string, number>(Object.values(WORDS).map(([word]) => [word, 0]))
  for (const each of recent) {
    const word = wordOf(each)
    counts.set(word, isRange(each) ? Number.POSITIVE_INFINITY : counts.get(word)! + 1)
  }
  const told = [...counts].filter(([, count]) => count > 0)
  const list = told.map(([word, count]) => `${Number.isFinite(count) ? count : 'several'} ${word}`)
  return `Last ${recent.length}: ${list.join(', ')}`
}
