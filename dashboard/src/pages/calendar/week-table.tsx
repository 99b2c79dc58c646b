import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { moveByKey } from './grid-keys.ts'
import { HEATS, levelOf } from './heat.ts'
import { runsOf } from './runs-of.ts'
import type { Day, Hour } from './week.ts'
import { longDay, runsWords, shortDay, shortRuns, timeWords } from './words.ts'

export interface WeekTableProps {
  days: readonly Day[]
  now: Date
  /** By when an hour begins. */
  runs: ReadonlyMap<number, number>
  levels: readonly number[]
  isEstimate: boolean
  chosen: Hour | undefined
  onChoose: (hour: Hour) => void
}

const WALL = Array.from({ length: 24 }, (_, hour) => hour)
const cellStyle =
  'flex h-7 w-full min-w-0 items-center justify-center rounded-sm text-xs tabular-nums focus-visible:relative focus-visible:z-10'

/** Seven days by twenty-four hours on the wall; an hour that the wall shows twice has two cells, one that it never shows none. */
export function WeekTable(props: WeekTableProps) {
  const { days, now, chosen } = props
  const all = days.flatMap(({ hours }) => hours)
  // The one stop for the tabulator key.
  const stop = (chosen ?? all.find(({ to }) => to > now) ?? all[0]!).from.getTime()
  return (
    <table
      className="w-full table-fixed border-separate border-spacing-0.5"
      onKeyDown={(event) => moveByKey(days, event)}
    >
      <caption className="sr-only">
        Runs in each hour of the week. Arrow keys go from hour to hour; Enter shows what comes then.
      </caption>
      <colgroup>
        <col className="w-11" />
      </colgroup>
      <thead>
        <tr>
          <td />
          {days.map(({ from }) => (
            <th key={from.getTime()} scope="col" className="pb-1 text-center font-medium text-xs">
              <span className="sr-only">{longDay(from)}</span>
              <span aria-hidden="true">
                {shortDay(from)} <span className="text-muted max-sm:block">{from.getDate()}</span>
              </span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {WALL.map((hour) => (
          <tr key={hour}>
            <th scope="row" className="pr-1.5 text-right font-normal text-muted text-xs tabular-nums">
              {String(hour).padStart(2, '0')}:00
            </th>
            {days.map((day) => {
              const own = day.hours.filter((each) => each.hour === hour)
              return (
                <td key={day.from.getTime()} className="p-0">
                  <div className="flex gap-0.5">
                    {own.map((each) => (
                      <HourCell
                        key={each.from.getTime()}
                        {...props}
                        day={day}
                        hour={each}
                        isTwice={own.length > 1}
                        isStop={each.from.getTime() === stop}
                      />
                    ))}
                    {own.length === 0 && <NoHour />}
                  </div>
                </td>
              )
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Where clocks are set forward. */
function NoHour() {
  return (
    <span
      title="The wall does not show this hour that day"
      className={`${cellStyle} border border-line border-dashed text-muted`}
    >
      <span className="sr-only">There is no such hour that day</span>
    </span>
  )
}

type HourCellProps = WeekTableProps & { day: Day; hour: Hour; isTwice: boolean; isStop: boolean }

function HourCell({
  day,
  hour,
  now,
  runs,
  levels,
  isEstimate,
  chosen,
  onChoose,
  isTwice,
  isStop,
}: HourCellProps) {
  const at = hour.from.getTime()
  const when = `${longDay(day.from)}, ${timeWords(hour, isTwice)}`
  const place = { 'data-hour': at, tabIndex: isStop ? 0 : -1 }
  if (hour.to <= now) return <PastHour hour={hour} when={when} {...place} />
  const count = runs.get(at) ?? 0
  const isNow = hour.from <= now
  const words = `${when}: ${runsWords(count, isEstimate)}${isNow ? ' from now on' : ''}`
  const isChosen = chosen?.from.getTime() === at
  return (
    <button
      type="button"
      {...place}
      aria-pressed={isChosen}
      aria-label={words}
      title={words}
      onClick={() => onChoose(hour)}
      className={`${cellStyle} ${HEATS[levelOf(count, levels)]} border ${isChosen ? 'border-ink ring-1 ring-ink' : isNow ? 'border-edge' : 'border-line/60'} hover:border-ink`}
    >
      {count > 0 && shortRuns(count)}
    </button>
  )
}

/** What was planned then is history: runs tell it, and not what the timings are now. */
function PastHour({
  hour,
  when,
  ...place
}: {
  hour: Hour
  when: string
  'data-hour': number
  tabIndex: number
}): ReactNode {
  const words = `${when}: past, see its runs`
  return (
    <Link
      href={runsOf(hour)}
      {...place}
      aria-label={words}
      title={words}
      className={`${cellStyle} bg-raised hover:bg-line`}
    />
  )
}
