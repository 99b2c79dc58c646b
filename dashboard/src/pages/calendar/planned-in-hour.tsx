import { useQuery } from '@tanstack/react-query'
import type { Result } from '../../../../src/http-client/index.js'
import { Head } from '../../parts/head.tsx'
import { Listing } from '../../parts/listing.tsx'
import { bodyCell, numberCell, Table } from '../../parts/table.tsx'
import { ScheduleLink } from '../../schedules/schedule-link.tsx'
import { count } from '../../time/format.ts'
import { Moment } from '../../time/moment.tsx'
import { plannedQuery } from './queries.ts'
import type { Hour } from './week.ts'

const PAGE_SIZE = 50

interface PlannedInHourProps {
  hour: Hour
  filter: { queue?: string; group?: string }
  pageToken: string | undefined
}

/** The schedules that ask for the runs of an hour. */
export function PlannedInHour({ hour: { from, to }, filter, pageToken }: PlannedInHourProps) {
  const { data, error, isPlaceholderData } = useQuery(
    plannedQuery({
      from: from.toISOString(),
      to: to.toISOString(),
      ...filter,
      limit: PAGE_SIZE,
      ...(pageToken !== undefined && { pageToken }),
    }),
  )
  return (
    <Listing
      page={data && { count: data.schedules.length, nextPageToken: data.nextPageToken }}
      pageToken={pageToken}
      error={error}
      isBusy={isPlaceholderData}
      empty={<p className="p-4 text-muted">No schedule has a plan time then.</p>}
    >
      <Table label="Schedules of the hour">
        <Head columns={['Schedule', 'First', 'Plan times', 'Runs']} numbers={['Plan times', 'Runs']} />
        <tbody>
          {data?.schedules.map((schedule) => (
            <PlannedRow key={schedule.name} schedule={schedule} />
          ))}
        </tbody>
      </Table>
    </Listing>
  )
}

type Planned = Result<'listPlanned'>['schedules'][number]

function PlannedRow({
  schedule: { name, job, queue, group, firstPlanTime, planTimes, runs },
}: {
  schedule: Planned
}) {
  return (
    <tr>
      <th scope="row" className={`${bodyCell} w-full max-w-0`}>
        <div className="font-medium">
          <ScheduleLink name={name} />
        </div>
        <div className="flex flex-wrap gap-x-3 text-muted text-xs [overflow-wrap:anywhere]">
          <span>{job}</span>
          {group !== null && <span>of {group}</span>}
          {queue !== 'default' && <span>in {queue}</span>}
        </div>
      </th>
      <td className={bodyCell}>
        <Moment at={firstPlanTime} show="local" />
      </td>
      <td className={numberCell}>{count(planTimes)}</td>
      <td className={numberCell}>{count(runs)}</td>
    </tr>
  )
}
