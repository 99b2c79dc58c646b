import { useAddressFilter } from '../../parts/use-address-filter.ts'
import { type Day, dayFrom, daysFrom, type Hour, isoDay, midnightOf } from './week.ts'

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
  const first = (week === undefined ? undefined : dayFrom(week)) ?? firstFor(asked, now)
  const days = daysFrom(first)
  const filter = { ...(queue !== undefined && { queue }), ...(group !== undefined && { group }) }
  /** Another week, with the same filter. */
  const hrefOf = (weeksLater: number) => {
    const params = new URLSearchParams({ week: isoDay(midnightOf(first, 7 * weeksLater)), ...filter })
    return `/calendar?${params}`
  }
  return { first, days, chosen: asked && hourAt(days, asked), filter, pageToken, change, hrefOf }
}

/** Today, unless an hour is asked for that is not within seven days of it. */
function firstFor(asked: Date | undefined, now: Date): Date {
  const today = midnightOf(now)
  const isFar = asked !== undefined && (asked < today || asked >= midnightOf(now, 7))
  return isFar ? midnightOf(asked) : today
}

function hourAt(days: readonly Day[], at: Date): Hour | undefined {
  return days.flatMap(({ hours }) => hours).find(({ from, to }) => from <= at && at < to)
}
