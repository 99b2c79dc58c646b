import { describePolicies } from '../../../../src/schedules/describe-policies.js'
import type { FormState } from './form-state.ts'
import type { Reading } from './reading.ts'

/** What happens, in a sentence each; the first is the default. */
export const OVERLAP = [
  ['allow', 'Both run', 'The new run begins beside the one that is open.'],
  ['skip', 'Skip the new one', 'The plan time is recorded as skipped, and does not run.'],
  ['queue', 'One waits', 'The new run begins when the open one has ended; a third is recorded as skipped.'],
  ['replace', 'Replace the open one', 'The open run is cancelled, and its handler told; the new one begins.'],
] as const

export const CATCH_UP = [
  ['latest', 'The newest', 'The newest of them runs; the others are recorded as missed.'],
  ['none', 'None', 'None of them runs; all are recorded as missed.'],
  ['all', 'All', 'Each one runs, oldest first, so many in one go.'],
] as const

/** What differs from the defaults, in a line. */
export function policySummary(form: FormState, { policies }: Reading): string {
  const words = policies === undefined ? [] : describePolicies(policies, form.timing.kind)
  if (form.startAt !== '') words.unshift('Begins later')
  if (form.endAt !== '') words.push('Has an end')
  if (form.limit.trim() !== '') words.push(`At most ${form.limit.trim()} plan times`)
  return words.length === 0 ? 'All as by default.' : `${words.join('. ')}.`
}
