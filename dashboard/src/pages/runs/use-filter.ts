import type { Query } from '../../../../src/http-client/index.js'
import { type FilterFields, useAddressFilter } from '../../parts/use-address-filter.ts'

export const PAGE_SIZE = 50
export const STATES = [
  'pending',
  'running',
  'retrying',
  'succeeded',
  'failed',
  'cancelled',
  'skipped',
] as const
export const TRIGGERS = ['scheduled', 'manual', 'backfill', 'direct'] as const

type Field = 'state' | 'job' | 'queue' | 'schedule' | 'trigger' | 'from' | 'to'
/** As it is in the address. */
export type Filter = { [Name in Field]?: string }

const isInstant = (value: string) => !Number.isNaN(Date.parse(value))
const FIELDS: FilterFields<Field> = {
  state: (value) => STATES.some((state) => state === value),
  job: () => true,
  queue: () => true,
  schedule: () => true,
  trigger: (value) => TRIGGERS.some((trigger) => trigger === value),
  from: isInstant,
  to: isInstant,
}

export const useFilter = () => useAddressFilter(FIELDS)

/** What the server is asked, of what is known to be right. */
export function queryOf({ state, ...others }: Filter): NonNullable<Query<'listRuns'>> {
  return { ...others, ...(state !== undefined && { state: [state] }) } as NonNullable<Query<'listRuns'>>
}
