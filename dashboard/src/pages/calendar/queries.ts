import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Query } from '../../../../src/http-client/index.js'
import { client } from '../../api/client.ts'

/** Schedules are changed, and hours pass. */
const EVERY_MS = 60_000

export interface WeekQuestion {
  from: string
  to: string
  bucket: string
  queue?: string
  group?: string
}

export const weekQuery = (question: WeekQuestion, isEnabled: boolean) =>
  queryOptions({
    queryKey: ['forecast', 'week', question],
    queryFn: ({ signal }) => client.forecast({ ...question, by: 'none' }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: EVERY_MS,
    enabled: isEnabled,
  })

export const plannedQuery = (question: NonNullable<Query<'listPlanned'>>) =>
  queryOptions({
    queryKey: ['forecast', 'planned', question],
    queryFn: ({ signal }) => client.schedules.planned(question, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: EVERY_MS,
  })
