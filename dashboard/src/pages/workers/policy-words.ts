import type { Job } from '../../api/client.ts'
import { count } from '../../time/format.ts'
import { span } from '../../time/relative.ts'

/** As the API gives it: see `Retry`. */
interface Retry {
  attempts: number
  backoff: readonly number[] | { firstMs: number; factor: number; maxMs: number }
}

/** How often a run is tried, and how long it waits in between: `3, after 10 s, 1 min`. */
export function retryWords(retry: Job['retry']): string {
  const { attempts, backoff } = retry as unknown as Retry
  if (attempts === 1) return '1'
  if ('firstMs' in backoff) {
    return `${count(attempts)}, after ${span(backoff.firstMs)}, then × ${backoff.factor} up to ${span(backoff.maxMs)}`
  }
  if (backoff.length === 0) return '1'
  const waits = backoff.slice(0, attempts - 1).map(span)
  const repeats = attempts - 1 > backoff.length ? ' each time' : ''
  return `${count(attempts)}, after ${waits.join(', ')}${waits.length === 1 ? repeats : repeats && ', then the same'}`
}

/** How many in all processes together. */
export function atOnceWords({
  concurrency,
  concurrencyKey,
}: Pick<Job, 'concurrency' | 'concurrencyKey'>): string {
  if (concurrency === null) return 'any number'
  return concurrencyKey === null
    ? count(concurrency)
    : `${count(concurrency)} for each ${concurrencyKey.join('.')}`
}

/** What becomes of a run whose worker is gone. */
export function lostWords({ onStale, leaseMs }: Pick<Job, 'onStale' | 'leaseMs'>): string {
  return `${onStale === 'retry' ? 'tried again' : 'failed'} after ${span(leaseMs)}`
}
