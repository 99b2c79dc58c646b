import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { EscapementError, type Schedule } from '../../api/client.ts'
import { scheduleQuery } from '../../api/queries.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { useScheduleName } from '../../schedules/schedule-path.ts'
import { ShownZone } from '../../time/shown-zone.tsx'
import { ZoneSwitch } from '../../time/zone-switch.tsx'
import { ChangeLog } from './change-log.tsx'
import { Commands } from './commands.tsx'
import { ScheduleFacts } from './facts.tsx'
import { KeptValue } from './kept-value.tsx'
import { Missing } from './missing.tsx'
import { Rules } from './rules.tsx'
import { RunLog } from './run-log.tsx'
import { Standing } from './standing.tsx'
import { Timeline } from './timeline/timeline.tsx'
import { type Outcome, Told } from './told.tsx'
import { useZoneChoice } from './use-zone-choice.ts'
import { Verbs } from './verbs/verbs.tsx'

/** All about one schedule, and what can be done with it. */
export function SchedulePage() {
  const name = useScheduleName()
  return <OneSchedule key={name} name={name} />
}

function OneSchedule({ name }: { name: string }) {
  const query = useQuery(scheduleQuery(name))
  const [outcome, setOutcome] = useState<Outcome>(null)
  const isMissing = query.error instanceof EscapementError && query.error.code === 'schedule_not_found'
  const schedule = isMissing ? undefined : query.data
  return (
    <Page title={name} actions={schedule && <Verbs schedule={schedule} tell={setOutcome} />}>
      <Told name={name} outcome={outcome} />
      {isMissing ? (
        <Missing name={name} />
      ) : (
        <Loaded query={query}>{(found) => <Shown schedule={found} />}</Loaded>
      )}
    </Page>
  )
}

function Shown({ schedule }: { schedule: Schedule }) {
  const { zone, isOwn, shown, change } = useZoneChoice(schedule)
  const { description, input, metadata } = schedule
  return (
    <ShownZone zone={shown}>
      <div className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
        <Link href="/schedules" className="text-accent underline-offset-2 hover:underline">
          All schedules
        </Link>
        <ZoneSwitch zone={zone} isOwn={isOwn} onChange={change} />
      </div>
      {description !== null && (
        <p className="max-w-3xl whitespace-pre-wrap text-muted [overflow-wrap:anywhere]">{description}</p>
      )}
      <Standing schedule={schedule} />
      <Timeline schedule={schedule} />
      <ScheduleFacts schedule={schedule} />
      <Rules schedule={schedule} />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4 empty:hidden xl:grid-cols-[repeat(auto-fit,minmax(24rem,1fr))]">
        {input !== null && <KeptValue title="Input" value={input} />}
        {metadata !== null && <KeptValue title="Metadata" value={metadata} />}
      </div>
      <RunLog schedule={schedule} />
      <ChangeLog schedule={schedule} />
      <Commands schedule={schedule} />
    </ShownZone>
  )
}
