import type { FoundSchedule } from '../../api/client.ts'
import { bodyCell } from '../../parts/table.tsx'
import { NextTime } from '../../schedules/next-time.tsx'
import { RecentStrip } from '../../schedules/recent-strip.tsx'
import { ScheduleLink } from '../../schedules/schedule-link.tsx'
import { ScheduleState, StateNote } from '../../schedules/schedule-state.tsx'
import { timingInWords, zoneOf } from '../../schedules/timing-words.ts'
import type { FilterChange } from './use-filter.ts'

export function ScheduleRow({
  schedule,
  onFilter,
}: {
  schedule: FoundSchedule
  onFilter: (change: FilterChange) => void
}) {
  const { name, description, job, group, timing, recent = [] } = schedule
  const words = timingInWords(timing)
  const zone = zoneOf(timing)
  return (
    <tr className={schedule.state === 'broken' ? 'bg-bad-tint/60' : ''}>
      <th scope="row" className={`${bodyCell} w-full max-w-0 md:w-[32%] lg:w-[28%]`}>
        <div className="font-medium">
          <ScheduleLink name={name} />
        </div>
        {description !== null && (
          <div className="truncate text-muted text-xs" title={description}>
            {description}
          </div>
        )}
        <StateNote schedule={schedule} />
        <div className="mt-0.5 grid text-muted text-xs md:hidden">
          <span title={zone}>{words}</span>
          <NextTime schedule={schedule} />
        </div>
        {recent.length > 0 && (
          <div className="mt-1">
            <RecentStrip recent={recent} />
          </div>
        )}
      </th>
      <td className={bodyCell}>
        <ScheduleState schedule={schedule} />
      </td>
      <td className={`${bodyCell} max-md:hidden`}>
        <div title={zone} className="max-w-80 text-pretty">
          {words}
        </div>
      </td>
      <td className={`${bodyCell} max-md:hidden`}>
        <NextTime schedule={schedule} />
      </td>
      <td className={`${bodyCell} max-lg:hidden`}>
        <FilterButton label={`Only job ${job}`} onClick={() => onFilter({ job })}>
          {job}
        </FilterButton>
      </td>
      <td className={`${bodyCell} max-lg:hidden`}>
        {group === null ? (
          <span className="text-muted">–</span>
        ) : (
          <FilterButton label={`Only group ${group}`} onClick={() => onFilter({ group })}>
            {group}
          </FilterButton>
        )}
      </td>
    </tr>
  )
}

function FilterButton({
  label,
  onClick,
  children,
}: {
  label: string
  onClick: () => void
  children: string
}) {
  return (
    <button
      type="button"
      title={label}
      onClick={onClick}
      className="block max-w-36 truncate text-left underline-offset-2 hover:text-accent hover:underline"
    >
      {children}
    </button>
  )
}
