import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { client } from '../../../api/client.ts'
import { pointsOf } from './points.ts'
import { rangeOf, type Span } from './spans.ts'

/**
 * No event renews it: a minute is counted when it is over, and that is when there is something new. Which minute that is, the clock of
 * the server knows best, but a bar at the end that is a minute early or late is none or empty.
 */
export const historyQuery = (span: Span) =>
  queryOptions({
    queryKey: ['history', span.name],
    async queryFn({ signal }) {
      const { from, to } = rangeOf(span, Date.now())
      const query = {
        from: new Date(from).toISOString(),
        to: new Date(to).toISOString(),
        bucket: `${span.bucketMs / 60_000} minutes`,
      }
      const { points } = await client.statsHistory(query, { signal })
      return { span, from, to, points: pointsOf(points, { from, to, bucketMs: span.bucketMs }) }
    },
    placeholderData: keepPreviousData,
    refetchInterval: span.name === 'hour' ? 10_000 : 60_000,
  })
