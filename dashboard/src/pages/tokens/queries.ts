import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Result } from '../../../../src/http-client/index.js'
import { client } from '../../api/client.ts'

export type Token = Result<'listTokens'>['tokens'][number]
export type NewToken = Result<'createToken'>

const PAGE_SIZE = 50

export const tokensQuery = (pageToken: string | undefined) =>
  queryOptions({
    queryKey: ['tokens', pageToken],
    queryFn: ({ signal }) =>
      client.tokens.list({ limit: PAGE_SIZE, ...(pageToken !== undefined && { pageToken }) }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  })

/**
 * The token that was just made. It is kept beside the pages, since the first one closes the door: for a moment nobody may be known,
 * and all pages go and come again.
 */
export const newTokenQuery = queryOptions<NewToken | null>({
  queryKey: ['new-token'],
  queryFn: () => null,
  initialData: null,
  enabled: false,
  staleTime: Number.POSITIVE_INFINITY,
})
