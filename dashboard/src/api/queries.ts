import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Query } from '../../../src/http-client/index.js'
import { client, keepCsrfToken } from './client.ts'

/**
 * What pages read. The first word of a key is what events renew. Events are hints that may be lost, so that what
 * should be fresh is also read anew now and then.
 */
const NOW_AND_THEN_MS = 15_000

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  async queryFn({ signal }) {
    const session = await client.session({ signal })
    keepCsrfToken(session.csrfToken)
    return session
  },
  staleTime: Number.POSITIVE_INFINITY,
})

export const claimingQuery = queryOptions({
  queryKey: ['claiming'],
  queryFn: ({ signal }) => client.claiming.get({ signal }),
  refetchInterval: NOW_AND_THEN_MS,
})

export const statsQuery = queryOptions({
  queryKey: ['stats'],
  queryFn: ({ signal }) => client.stats({ signal }),
  refetchInterval: NOW_AND_THEN_MS,
})

export const queuesQuery = queryOptions({
  queryKey: ['queues'],
  queryFn: ({ signal }) => client.queues({ signal }),
  refetchInterval: NOW_AND_THEN_MS,
})

export const workersQuery = queryOptions({
  queryKey: ['workers'],
  queryFn: ({ signal }) => client.workers({ signal }),
  refetchInterval: NOW_AND_THEN_MS,
})

export const jobsQuery = queryOptions({
  queryKey: ['jobs'],
  queryFn: ({ signal }) => client.jobs({ signal }),
  refetchInterval: NOW_AND_THEN_MS,
})

export const transitionsQuery = queryOptions({
  queryKey: ['transitions'],
  queryFn: ({ signal }) => client.transitions.list({ signal }),
  refetchInterval: NOW_AND_THEN_MS,
})

/** It looks at everything there is: only when somebody comes, or asks for it. */
export const doctorQuery = queryOptions({
  queryKey: ['doctor'],
  queryFn: ({ signal }) => client.doctor({ signal }),
  staleTime: 60_000,
})

export const forecastQuery = queryOptions({
  queryKey: ['forecast'],
  async queryFn({ signal }) {
    // By the clock's own minutes: what is at 22:00 would else be shown a minute early.
    const from = Math.floor(Date.now() / 60_000) * 60_000
    const query = { from: new Date(from).toISOString(), bucket: '1 minute', by: 'none' as const }
    return { from, ...(await client.forecast(query, { signal })) }
  },
  refetchInterval: 60_000,
})

export const failuresQuery = queryOptions({
  queryKey: ['runs', 'failures'],
  queryFn: ({ signal }) => client.runs.list({ state: ['failed'], limit: 6 }, { signal }),
})

export const schedulesQuery = (filter: NonNullable<Query<'listSchedules'>>) =>
  queryOptions({
    queryKey: ['schedules', filter],
    queryFn: ({ signal }) => client.schedules.list(filter, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: NOW_AND_THEN_MS,
  })

export const scheduleQuery = (name: string) =>
  queryOptions({
    queryKey: ['schedules', 'one', name],
    queryFn: ({ signal }) => client.schedules.get(name, { signal }),
    refetchInterval: NOW_AND_THEN_MS,
  })

export const runsQuery = (filter: NonNullable<Query<'listRuns'>>) =>
  queryOptions({
    queryKey: ['runs', 'list', filter],
    queryFn: ({ signal }) => client.runs.list(filter, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: NOW_AND_THEN_MS,
  })

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: ['runs', 'one', id],
    queryFn: ({ signal }) => client.runs.get(id, { signal }),
    refetchInterval: NOW_AND_THEN_MS,
  })
