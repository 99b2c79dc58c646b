import { useSearchParams } from 'wouter'
import type { Query } from '../../../../src/http-client/index.js'

export const PAGE_SIZE = 50
export const STATES = ['active', 'paused', 'broken', 'finished'] as const

export type Filter = Pick<NonNullable<Query<'listSchedules'>>, 'q' | 'state' | 'group' | 'job'>
/** An empty text takes a field away. */
export type FilterChange = { [Field in keyof Filter]?: string }

const FIELDS = ['q', 'state', 'group', 'job'] as const

export interface KeptFilter {
  filter: Filter
  isFiltered: boolean
  pageToken: string | undefined
  /** Begins with the first page again. */
  change(change: FilterChange): void
}

/** What is searched for, as it is in the address: it can be sent to somebody, and the way back leads back. */
export function useFilter(): KeptFilter {
  const [params, setParams] = useSearchParams()
  const filter: Record<string, string> = {}
  for (const field of FIELDS) {
    const value = params.get(field)
    const isKnown = field !== 'state' || STATES.some((state) => state === value)
    if (value && isKnown) filter[field] = value
  }
  return {
    filter: filter as Filter,
    isFiltered: Object.keys(filter).length > 0,
    pageToken: params.get('pageToken') ?? undefined,
    change(change) {
      setParams(
        (old) => {
          const next = new URLSearchParams(old)
          next.delete('pageToken')
          for (const [field, value] of Object.entries(change)) {
            if (value) next.set(field, value)
            else next.delete(field)
          }
          return next
        },
        { replace: true },
      )
    },
  }
}
