import type { FoundSchedule } from '../../api/client.ts'
import { headCell, Table } from '../../parts/table.tsx'
import { ScheduleRow } from './schedule-row.tsx'
import type { FilterChange } from './use-filter.ts'

export interface ScheduleTableProps {
  schedules: readonly FoundSchedule[]
  onFilter: (change: FilterChange) => void
}

/** Where there is little room, what has no column is told under the name. */
export function ScheduleTable({ schedules, onFilter }: ScheduleTableProps) {
  return (
    <Table label="Schedules">
      <thead>
        <tr>
          <th scope="col" className={headCell}>
            Schedule
          </th>
          <th scope="col" className={headCell}>
            State
          </th>
          <th scope="col" className={`${headCell} max-md:hidden`}>
            Timing
          </th>
          <th scope="col" className={`${headCell} max-md:hidden`}>
            Next
          </th>
          <th scope="col" className={`${headCell} max-lg:hidden`}>
            Job
          </th>
          <th scope="col" className={`${headCell} max-lg:hidden`}>
            Group
          </th>
        </tr>
      </thead>
      <tbody>
        {schedules.map((schedule) => (
          <ScheduleRow key={schedule.id} schedule={schedule} onFilter={onFilter} />
        ))}
      </tbody>
    </Table>
  )
}
