import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Body } from '../../../../src/http-client/index.js'
import { client } from '../../api/client.ts'
import type { Fields } from './reading.ts'

export const editedQuery = (name: string) =>
  queryOptions({
    queryKey: ['schedules', 'edited', name],
    queryFn: ({ signal }) => client.schedules.get(name, { signal }),
    refetchInterval: 15_000,
  })

/** By what is asked, as JSON: an answer that comes late is that of another question. */
export const previewQuery = (asked: string) =>
  queryOptions({
    queryKey: ['preview', asked],
    queryFn: ({ signal }) => client.preview(JSON.parse(asked) as Body<'previewTiming'>, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  })

export const diffQuery = (name: string, fields: Fields, look: number) =>
  queryOptions({
    queryKey: ['diff', name, look, fields],
    queryFn: ({ signal }) =>
      client.schedules.diff(name, { fields: fields as Body<'patchSchedule'>, count: 10 }, { signal }),
  })
