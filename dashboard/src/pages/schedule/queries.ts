import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { client } from '../../api/client.ts'

const NOW_AND_THEN_MS = 15_000
const PAGE_SIZE = 25
/** So many in a row may be skipped before the next run is not found. */
const AHEAD = 20

/** The plan times to come, of which some are to be skipped. */
export const aheadQuery = (name: string) =>
  queryOptions({
    queryKey: ['schedules', 'ahead', name],
    queryFn: ({ signal }) => client.schedules.preview(name, { count: AHEAD }, { signal }),
    refetchInterval: NOW_AND_THEN_MS,
  })

/** The run whose end a schedule waits for. */
export const openRunQuery = (name: string) =>
  queryOptions({
    queryKey: ['runs', 'open', name],
    async queryFn({ signal }) {
      const open = { schedule: name, state: ['pending' as const, 'running' as const, 'retrying' as const] }
      const { runs } = await client.runs.list({ ...open, limit: 1 }, { signal })
      return runs[0] ?? null
    },
    refetchInterval: NOW_AND_THEN_MS,
  })

export const historyQuery = (name: string, pageToken: string | undefined) =>
  queryOptions({
    queryKey: ['schedules', 'history', name, pageToken],
    queryFn: ({ signal }) => client.schedules.history(name, pageOf(pageToken), { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: NOW_AND_THEN_MS,
  })

export const changesQuery = (name: string, pageToken: string | undefined) =>
  queryOptions({
    queryKey: ['schedules', 'changes', name, pageToken],
    queryFn: ({ signal }) => client.schedules.changes(name, pageOf(pageToken), { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: NOW_AND_THEN_MS,
  })

const pageOf = (pageToken: string | undefined) => ({
  limit: PAGE_SIZE,
  ...(pageToken !== undefined && { pageToken }),
})
