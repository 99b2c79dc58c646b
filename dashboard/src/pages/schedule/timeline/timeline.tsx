import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schedule } from '../../../api/client.ts'
import { Card } from '../../../parts/card.tsx'
import { Loaded } from '../../../parts/loaded.tsx'
import { clockTime } from '../../../time/format.ts'
import { useShownZone } from '../../../time/shown-zone.tsx'
import { useNow } from '../../../time/use-now.ts'
import { Detail } from './detail.tsx'
import { Groups } from './groups.tsx'
import type { Timeline as Data } from './kinds.ts'
import { Legend } from './legend.tsx'
import { NoneLeft, NonePassed } from './nothing.tsx'
import { Paging } from './paging.tsx'
import { type PlanTime, planTimesOf, spanOf } from './plan-times.ts'
import { timelineQuery } from './queries.ts'
import { useWindow, type Window } from './use-window.ts'

/** What became of its plan times and what is to become of them, with now in between. */
export function Timeline({ schedule }: { schedule: Schedule }) {
  const { window, hrefOf } = useWindow()
  const query = useQuery(timelineQuery(schedule, window))
  const now = useDatabaseNow(query)
  return (
    <Card
      title="Timeline"
      aside={query.data && <Paging window={window} timeline={query.data} hrefOf={hrefOf} />}
    >
      <Loaded query={query}>
        {(timeline) => (
          <div aria-busy={query.isPlaceholderData} className={query.isPlaceholderData ? 'opacity-60' : ''}>
            <Shown schedule={schedule} timeline={timeline} window={window} now={now} />
          </div>
        )}
      </Loaded>
    </Card>
  )
}

/** The clock of the browser may be wrong, and the one that is on the screen is up to a second behind. */
function useDatabaseNow({ data, dataUpdatedAt }: { data: Data | undefined; dataUpdatedAt: number }): Date {
  const here = useNow()
  if (data === undefined) return here
  const read = Date.parse(data.now)
  return new Date(Math.max(read, read + here.getTime() - dataUpdatedAt))
}

interface ShownProps {
  schedule: Schedule
  timeline: Data
  window: Window
  now: Date
}

function Shown({ schedule, timeline: { occurrences, hasEarlier, hasLater }, window, now }: ShownProps) {
  const zone = useShownZone()
  const [open, setOpen] = useState<{ planTime: PlanTime; anchor: HTMLElement }>()
  const planTimes = planTimesOf(occurrences)
  const isPast = ({ at }: PlanTime) => Date.parse(at) <= now.getTime()
  const past = planTimes.filter(isPast)
  const coming = planTimes.filter((each) => !isPast(each))
  const span = spanOf(planTimes, zone)
  const isAround = window.before === undefined && window.from === undefined
  const isNowIn = isAround || ((past.length > 0 || !hasEarlier) && (coming.length > 0 || !hasLater))
  const shared = {
    span,
    zone,
    now,
    openAt: open?.planTime.at,
    onOpen: (planTime: PlanTime, anchor: HTMLElement) => setOpen({ planTime, anchor }),
  }
  // What is open may have left the part that is shown: then it stays as it was.
  const opened = open && (planTimes.find(({ at }) => at === open.planTime.at) ?? open.planTime)
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4 p-4">
      <Legend occurrences={occurrences} now={now} />
      {past.length > 0 && <Groups label="Before now" planTimes={past} {...shared} />}
      {past.length === 0 && isNowIn && !hasEarlier && <NonePassed />}
      {isNowIn && <NowLine now={now} zone={zone} />}
      {coming.length > 0 && <Groups label="To come" planTimes={coming} {...shared} />}
      {!hasLater && <NoneLeft schedule={schedule} isNone={coming.length === 0} />}
      {open && opened && (
        <Detail
          key={opened.at}
          schedule={schedule}
          planTime={opened}
          now={now}
          anchor={open.anchor}
          onClose={() => setOpen((last) => (last?.planTime.at === opened.at ? undefined : last))}
        />
      )}
    </div>
  )
}

function NowLine({ now, zone }: { now: Date; zone: string | undefined }) {
  return (
    <div className="flex items-center gap-3 font-medium text-accent text-xs before:h-0.5 before:w-4 before:bg-accent after:h-0.5 after:flex-1 after:bg-accent md:before:w-[6.75rem]">
      <span className="whitespace-nowrap tabular-nums">Now, {clockTime(now, zone)}</span>
    </div>
  )
}
