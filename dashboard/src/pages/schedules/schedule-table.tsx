import type { FoundSchedule } from '../../api/client.ts'
import { Head } from '../../parts/head.tsx'
import { Table } from '../../parts/table.tsx'
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
      <Head
        columns={['Schedule', 'State', 'Timing', 'Next', 'Job', 'Group']}
        middle={['Timing', 'Next']}
        wide={['Job', 'Group']}
      />
      <tbody>
        {schedules.map((schedule) => (
          <ScheduleRow key={schedule.id} schedule={schedule} onFilter={onFilter} />
        ))}
      </tbody>
    </Table>
  )
}
