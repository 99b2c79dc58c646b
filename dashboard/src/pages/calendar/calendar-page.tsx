import { useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { Link } from 'wouter'
import { Badge } from '../../parts/badge.tsx'
import { buttonStyle } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Page } from '../../parts/page.tsx'
import { TypedFilter } from '../../parts/typed-filter.tsx'
import { useNow } from '../../time/use-now.ts'
import { levelsUpTo } from './heat.ts'
import { Legend } from './legend.tsx'
import { NothingPlanned } from './nothing-planned.tsx'
import { PlannedInHour } from './planned-in-hour.tsx'
import { weekQuery } from './queries.ts'
import { runsOf } from './runs-of.ts'
import { useCalendar } from './use-calendar.ts'
import { type Hour, isoDay, isTwice, midnightOf, runsByHour, stepOf } from './week.ts'
import { WeekTable } from './week-table.tsx'
import { HERE, longDay, timeWords, weekWords } from './words.ts'

const MINUTE_MS = 60_000

/** What all schedules ask for in seven days, from today on or from another day, hour by hour; what is looked at is in the address. */
export function CalendarPage() {
  // To the minute, so that the table is not made anew every second.
  const now = new Date(Math.floor(useNow().getTime() / MINUTE_MS) * MINUTE_MS)
  const { first, days, chosen, filter, pageToken, change, hrefOf } = useCalendar(now)
  const end = days.at(-1)!.hours.at(-1)!.to
  const isPast = end <= now
  const question = {
    from: first.toISOString(),
    to: end.toISOString(),
    bucket: `${stepOf(days)} milliseconds`,
    ...filter,
  }
  const { data, error, isPlaceholderData } = useQuery(weekQuery(question, !isPast))
  const runs = runsByHour(days, isPast || !data ? [] : data.buckets)
  const levels = levelsUpTo(Math.max(...runs.values()))
  const isEstimate = !isPast && data?.isEstimate === true
  const below = useRef<HTMLDivElement>(null)
  const choose = (hour: Hour) => {
    change({ week: isoDay(first), hour: hour.from.toISOString() })
    requestAnimationFrame(() => below.current?.scrollIntoView({ block: 'nearest' }))
  }
  const isFromToday = isoDay(first) === isoDay(midnightOf(now))
  return (
    <Page
      title="Calendar"
      actions={
        <nav aria-label="Weeks" className="flex flex-wrap gap-2">
          <Link href={hrefOf(-1)} className={buttonStyle()}>
            Earlier
          </Link>
          <Link
            href={`/calendar${Object.keys(filter).length > 0 ? `?${new URLSearchParams(filter)}` : ''}`}
            aria-current={isFromToday ? 'page' : undefined}
            className={buttonStyle()}
          >
            From today
          </Link>
          <Link href={hrefOf(1)} className={buttonStyle()}>
            Later
          </Link>
        </nav>
      }
    >
      <search>
        <form className="grid grid-cols-2 gap-2 sm:max-w-md" onSubmit={(event) => event.preventDefault()}>
          <TypedFilter
            label="Queue"
            placeholder="Any"
            value={filter.queue ?? ''}
            onChange={(queue) => change({ queue })}
          />
          <TypedFilter
            label="Group"
            placeholder="Any"
            value={filter.group ?? ''}
            onChange={(group) => change({ group })}
          />
        </form>
      </search>
      <Failure error={error} />
      <Card title={weekWords(first, days.at(-1)!.from)} aside={HERE}>
        <div
          aria-busy={isPlaceholderData}
          className={`grid gap-3 p-3 ${isPlaceholderData ? 'opacity-60' : ''}`}
        >
          {isEstimate && (
            <div className="flex flex-wrap items-baseline gap-x-2 gap-y-1 text-muted text-xs">
              <Badge tone="warn">estimate</Badge>
              There are too many schedules to count them all: the figures are scaled up from a part. What only
              few ask for may be missing.
            </div>
          )}
          {isPast && (
            <p className="text-muted">
              These days are past. An hour leads to the runs that were planned for it.
            </p>
          )}
          {!isPast && data && levels.length === 0 && (
            <NothingPlanned isFiltered={Object.keys(filter).length > 0} />
          )}
          <WeekTable
            days={days}
            now={now}
            runs={runs}
            levels={levels}
            isEstimate={isEstimate}
            chosen={chosen}
            onChoose={choose}
          />
          <Legend levels={levels} isPastShown={first < now} />
        </div>
      </Card>
      {chosen && (
        <div ref={below} className="grid grid-cols-[minmax(0,1fr)] gap-3">
          <h2 className="font-semibold text-base">
            {longDay(chosen.from)}, {timeWords(chosen, isTwice(days, chosen))}
          </h2>
          {chosen.to <= now ? (
            <p className="text-muted">
              That hour is past.{' '}
              <Link href={runsOf(chosen)} className="text-accent underline underline-offset-2">
                See its runs
              </Link>
            </p>
          ) : (
            <PlannedInHour hour={chosen} filter={filter} pageToken={pageToken} />
          )}
        </div>
      )}
    </Page>
  )
}
