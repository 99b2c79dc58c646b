import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { failuresQuery } from '../../api/queries.ts'
import { Card } from '../../parts/card.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { ScheduleLink } from '../../schedules/schedule-link.tsx'
import { Moment } from '../../time/moment.tsx'

/** The runs whose attempts were used up last. */
export function Failures() {
  return (
    <Card title="Recent failures">
      <Loaded query={useQuery(failuresQuery)}>
        {({ runs }) =>
          runs.length === 0 ? (
            <p className="p-4 text-muted">No run has failed.</p>
          ) : (
            <ul className="divide-y divide-line">
              {runs.map(({ id, job, schedule, error, attempt, finishedAt, eligibleAt }) => (
                <li key={id} className="grid gap-0.5 px-4 py-2">
                  <div className="flex items-baseline justify-between gap-3">
                    <Link
                      href={`/runs/${id}`}
                      className="min-w-0 truncate font-medium underline-offset-2 hover:text-accent hover:underline"
                    >
                      {job}
                    </Link>
                    <Moment at={finishedAt ?? eligibleAt} className="text-muted text-xs" />
                  </div>
                  <div className="truncate text-bad" title={error?.message}>
                    {error?.message ?? 'without a message'}
                  </div>
                  <div className="flex flex-wrap gap-x-3 text-muted text-xs">
                    {schedule !== null && <ScheduleLink name={schedule} className="text-ink" />}
                    <span>{error?.code}</span>
                    <span>
                      after {attempt} {attempt === 1 ? 'attempt' : 'attempts'}
                    </span>
                    <span className="min-w-0 truncate font-mono">{id}</span>
                  </div>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  )
}
