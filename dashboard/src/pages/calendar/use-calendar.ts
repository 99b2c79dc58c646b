import { useAddressFilter } from '../../parts/use-address-filter.ts'
import { type Day, dayFrom, daysFrom, type Hour, isoDay, mondayOf } from './week.ts'

const isInstant = (value: string) => !Number.isNaN(Date.parse(value))

/** What is looked at, as it is in the address. */
export function useCalendar(now: Date) {
  const { values, pageToken, change } = useAddressFilter({
    week: (value) => dayFrom(value) !== undefined,
    hour: isInstant,
    queue: () => true,
    group: () => true,
  })
  const { week, hour, queue, group } = values
  const asked = hour === undefined ? undefined : new Date(hour)
  const monday = mondayOf((week === undefined ? undefined : dayFrom(week)) ?? asked ?? now)
  const days = daysFrom(monday)
  const filter = { ...(queue !== undefined && { queue }), ...(group !== undefined && { group }) }
  /** Another week, with the same filter. */
  const hrefOf = (weeksLater: number) => {
    const params = new URLSearchParams({ week: isoDay(mondayOf(monday, weeksLater)), ...filter })
    return `/calendar?${params}`
  }
  return { monday, days, chosen: asked && hourAt(days, asked), filter, pageToken, change, hrefOf }
}

function hourAt(days: readonly Day[], at: Date): Hour | undefined {
  return days.flatMap(({ hours }) => hours).find(({ from, to }) => from <= at && at < to)
}
