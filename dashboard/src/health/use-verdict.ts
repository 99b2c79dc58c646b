import { useQuery } from '@tanstack/react-query'
import { useSeesAll } from '../api/may.ts'
import { queuesQuery, statsQuery, workersQuery } from '../api/queries.ts'
import { useNow } from '../time/use-now.ts'
import { type Verdict, verdictOf } from './verdict.ts'

/** Undefined until it is known, and for whoever sees one group only. */
export function useVerdict(): Verdict | undefined {
  const enabled = useSeesAll()
  const now = useNow()
  const stats = useQuery({ ...statsQuery, enabled }).data
  const queues = useQuery({ ...queuesQuery, enabled }).data
  const workers = useQuery({ ...workersQuery, enabled }).data
  if (!stats || !queues || !workers) return undefined
  return verdictOf(stats, queues.queues, workers.workers, now)
}
