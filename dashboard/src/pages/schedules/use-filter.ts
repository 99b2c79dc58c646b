import type { Query } from '../../../../src/http-client/index.js'
import { type FilterFields, useAddressFilter } from '../../parts/use-address-filter.ts'

export const PAGE_SIZE = 50
/** How many of its last plan times each schedule is shown with. */
export const RECENT = 30
export const STATES = ['active', 'paused', 'broken', 'finished'] as const

export type Filter = Pick<NonNullable<Query<'listSchedules'>>, 'q' | 'state' | 'group' | 'job'>
/** An empty text takes a field away. */
export type FilterChange = { [Field in keyof Filter]?: string }

const FIELDS: FilterFields<keyof Filter> = {
  q: () => true,
  state: (value) => STATES.some((state) => state === value),
  group: () => true,
  job: () => true,
}

export function useFilter() {
  const { values, ...rest } = useAddressFilter(FIELDS)
  return { ...rest, filter: values as Filter }
}
