import { useQuery } from '@tanstack/react-query'
import { useSeesAll } from '../api/may.ts'
import { queuesQuery, statsQuery, workersQuery } from '../api/queries.ts'
import { useNow } from '../time/use-now.ts'
import { UNKNOWN, type Verdict, verdictOf } from './verdict.ts'

/** Undefined until it is known, and for whoever sees one group only. */
export function useVerdict(): Verdict | undefined {
  const enabled = useSeesAll()
  const now = useNow()
  const stats = useQuery({ ...statsQuery, enabled })
  const queues = useQuery({ ...queuesQuery, enabled })
  const workers = useQuery({ ...workersQuery, enabled })
  if (stats.isError || queues.isError || workers.isError) return UNKNOWN
  if (!stats.data || !queues.data || !workers.data) return undefined
  return verdictOf(stats.data, queues.data.queues, workers.data.workers, now)
}
