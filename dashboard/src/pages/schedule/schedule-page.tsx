import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { describePolicies } from '../../../../src/schedules/describe-policies.js'
import type { Schedule } from '../../api/client.ts'
import { Card } from '../../parts/card.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { useScheduleName } from '../../schedules/schedule-path.ts'
import { ScheduleState, StateNote } from '../../schedules/schedule-state.tsx'
import { timingInWords } from '../../schedules/timing-words.ts'
import { scheduleQuery } from './queries.ts'

/** All about one schedule. */
export function SchedulePage() {
  const name = useScheduleName()
  const query = useQuery(scheduleQuery(name))
  return (
    <Page title={name}>
      <div>
        <Link href="/schedules" className="text-accent underline-offset-2 hover:underline">
          All schedules
        </Link>
      </div>
      <Loaded query={query}>{(schedule) => <Told schedule={schedule} />}</Loaded>
    </Page>
  )
}

function Told({ schedule }: { schedule: Schedule }) {
  return (
    <>
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <ScheduleState schedule={schedule} />
        <StateNote schedule={schedule} />
      </div>
      <Card title="Timing and policies">
        <div className="grid gap-2 px-4 py-3">
          <p className="font-medium">{timingInWords(schedule.timing)}</p>
          <ul className="list-disc pl-5">
            {describePolicies(schedule, schedule.timing.kind).map((words) => (
              <li key={words}>{words}</li>
            ))}
          </ul>
        </div>
      </Card>
    </>
  )
}
