import type { Run } from '../api/client.ts'

/** Whether it can still be cancelled. */
export function isOpen({ state }: Pick<Run, 'state'>): boolean {
  return state === 'pending' || state === 'running' || state === 'retrying'
}

/** Whether its error is one: to be cancelled or skipped is none. */
export function isWrong({ state }: Pick<Run, 'state'>): boolean {
  return state !== 'cancelled' && state !== 'skipped'
}

/** What it ended with, or waits after. While it has another chance, what the last attempt failed of is old. */
export function endingError({ state, error }: Pick<Run, 'state' | 'error'>): Run['error'] {
  return state === 'pending' || state === 'running' || state === 'succeeded' ? null : error
}
