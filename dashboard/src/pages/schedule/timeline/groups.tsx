import { Chip } from './chip.tsx'
import { headingOf, labelsOf } from './labels.ts'
import { groupedBy, type PlanTime, type Span } from './plan-times.ts'

export interface GroupsProps {
  label: string
  planTimes: readonly PlanTime[]
  span: Span
  zone: string | undefined
  now: Date
  openAt: string | undefined
  onOpen: (planTime: PlanTime, anchor: HTMLElement) => void
}

/** Plan times in the order of time, gathered by day, month or year. */
export function Groups({ label, planTimes, span, zone, now, openAt, onOpen }: GroupsProps) {
  return (
    <ol aria-label={label} className="grid grid-cols-[minmax(0,1fr)] gap-3">
      {groupedBy(span, planTimes, zone).map((group) => {
        const heading = headingOf(span, group.planTimes[0]!.at, zone)
        const labels = labelsOf(span, group.planTimes, zone)
        return (
          <li
            key={group.key}
            className={`grid gap-x-4 gap-y-1 ${heading === undefined ? '' : 'md:grid-cols-[9.5rem_minmax(0,1fr)]'}`}
          >
            {heading !== undefined && <div className="pt-1 text-muted text-xs">{heading}</div>}
            <ul className="flex min-w-0 flex-wrap gap-1.5">
              {group.planTimes.map((planTime, index) => (
                <li key={planTime.at}>
                  <Chip
                    planTime={planTime}
                    label={labels[index]!}
                    heading={heading}
                    now={now}
                    isOpen={planTime.at === openAt}
                    onOpen={(anchor) => onOpen(planTime, anchor)}
                  />
                </li>
              ))}
            </ul>
          </li>
        )
      })}
    </ol>
  )
}
