import type { Result } from '../../../../../src/http-client/index.js'

export type Timeline = Result<'getTimeline'>
export type Occurrence = Timeline['occurrences'][number]

/** What an occurrence is to whoever looks: what became of it, or is to become of it. */
export type Kind =
  | 'failed'
  | 'missed'
  | 'running'
  | 'retrying'
  | 'pending'
  | 'due'
  | 'cancelled'
  | 'skipped'
  | 'succeeded'
  | 'toBeSkipped'
  | 'upcoming'

/** In the order of the legend. */
export const KIND_WORDS: Readonly<Record<Kind, string>> = {
  succeeded: 'ran',
  failed: 'failed',
  running: 'running',
  pending: 'pending',
  retrying: 'retrying',
  cancelled: 'cancelled',
  missed: 'missed',
  skipped: 'skipped',
  due: 'due',
  upcoming: 'upcoming',
  toBeSkipped: 'to be skipped',
}

export const KINDS = Object.keys(KIND_WORDS) as Kind[]

export function kindOf({ disposition, runState, reason, planTime }: Occurrence, now: Date): Kind {
  if (disposition === 'run') return runState!
  if (disposition === 'skipped') return reason === 'missed' || reason === 'expired' ? 'missed' : 'skipped'
  if (reason !== null) return 'toBeSkipped'
  return Date.parse(planTime) <= now.getTime() ? 'due' : 'upcoming'
}

const REASON_WORDS: Readonly<Record<NonNullable<Occurrence['reason']>, string>> = {
  missed: 'missed',
  expired: 'expired',
  paused: 'paused',
  broken: 'broken',
  overlap: 'overlap',
  operator: 'operator',
  gate: 'gate',
  no_scope: 'no scope',
}

/** What is written beside its time: nothing where all is as it should be, and why where it was skipped. */
export function briefOf(occurrence: Occurrence, kind: Kind): string | undefined {
  if (kind === 'succeeded' || kind === 'upcoming') return undefined
  const { reason } = occurrence
  if (kind === 'skipped') return REASON_WORDS[reason ?? 'gate']
  if (kind === 'missed' || kind === 'toBeSkipped') return REASON_WORDS[reason!]
  return KIND_WORDS[kind]
}
