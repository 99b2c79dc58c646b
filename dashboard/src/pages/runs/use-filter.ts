import { type FilterFields, useAddressFilter } from '../../parts/use-address-filter.ts'
import { type Field, STATES, statesOf, TRIGGERS } from './filter-words.ts'

export const PAGE_SIZE = 50

const isInstant = (value: string) => !Number.isNaN(Date.parse(value))
const FIELDS: FilterFields<Field> = {
  state: (value) => statesOf({ state: value }).every((one) => STATES.some((state) => state === one)),
  job: () => true,
  queue: () => true,
  schedule: () => true,
  trigger: (value) => TRIGGERS.some((trigger) => trigger === value),
  from: isInstant,
  to: isInstant,
}

export const useFilter = () => useAddressFilter(FIELDS)
