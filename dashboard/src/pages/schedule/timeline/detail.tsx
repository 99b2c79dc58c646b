import { useEffect, useId, useRef } from 'react'
import { Link } from 'wouter'
import type { Schedule } from '../../../api/client.ts'
import { useMay } from '../../../api/may.ts'
import { zoneOf } from '../../../schedules/timing-words.ts'
import { count } from '../../../time/format.ts'
import { relative } from '../../../time/relative.ts'
import { useShownZone } from '../../../time/shown-zone.tsx'
import { isKnownZone } from '../../../time/zone-switch.tsx'
import { DstMark } from './dst-mark.tsx'
import { explain } from './explain.ts'
import { kindOf } from './kinds.ts'
import { wholeTime } from './labels.ts'
import { Mark } from './mark.tsx'
import { placeBeside } from './place-beside.ts'
import type { PlanTime } from './plan-times.ts'
import { SkipAction } from './skip-action.tsx'

/** Scopes that are told one by one; the others are among the runs. */
const TOLD = 20

export interface DetailProps {
  schedule: Schedule
  planTime: PlanTime
  now: Date
  anchor: HTMLElement
  onClose: () => void
}

/** All about one plan time, beside what was clicked. The browser closes it on Escape, and on a click elsewhere. */
export function Detail({ schedule, planTime, now, anchor, onClose }: DetailProps) {
  const popover = useRef<HTMLDivElement>(null)
  const id = useId()
  const mayAct = useMay('operator')
  useEffect(() => {
    const element = popover.current!
    element.showPopover()
    const place = () => placeBeside(element, anchor)
    place()
    element.focus({ preventScroll: true })
    window.addEventListener('resize', place)
    return () => window.removeEventListener('resize', place)
  }, [anchor])
  const [first] = planTime.occurrences
  const verb =
    first!.disposition !== 'upcoming' || kindOf(first!, now) === 'due'
      ? undefined
      : first!.reason === 'operator'
        ? 'unskip'
        : 'skip'
  return (
    <div
      ref={popover}
      popover="auto"
      role="dialog"
      aria-labelledby={id}
      tabIndex={-1}
      onToggle={({ newState }) => newState === 'closed' && onClose()}
      className="absolute inset-auto m-0 w-[min(26rem,calc(100vw-1rem))] rounded-lg border border-edge bg-surface p-4 text-ink shadow-xl outline-none"
    >
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
        <div className="flex items-start justify-between gap-3">
          <h3 id={id} className="font-semibold">
            Plan time {relative(new Date(planTime.at), now)}
          </h3>
          <button
            type="button"
            aria-label="Close"
            className="-m-1 size-7 rounded-md text-muted hover:bg-raised hover:text-ink"
            onClick={() => popover.current?.hidePopover()}
          >
            ×
          </button>
        </div>
        <Times at={planTime.at} zone={zoneOf(schedule.timing)} />
        <Told schedule={schedule} planTime={planTime} now={now} />
        {planTime.note !== null && (
          <p className="flex items-baseline gap-2 [overflow-wrap:anywhere]">
            <DstMark />
            <span>{planTime.note}.</span>
          </p>
        )}
        {mayAct && <SkipAction name={schedule.name} planTime={planTime.at} verb={verb} />}
      </div>
    </div>
  )
}

/** In the zone that is shown, in that of the schedule, and in UTC. */
function Times({ at, zone }: { at: string; zone: string | undefined }) {
  const shown = useShownZone()
  const instant = new Date(at)
  const lines = new Map([[shown ?? 'Here', wholeTime(instant, shown)]])
  const own = zone !== undefined && isKnownZone(zone) ? wholeTime(instant, zone) : undefined
  if (own !== undefined && own !== lines.get(shown ?? 'Here')) lines.set(zone!, own)
  lines.delete('UTC')
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5 text-xs">
      {[...lines, ['UTC', at] as const].map(([name, text]) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  )
}

/** What became of it, in each of its scopes. */
function Told({
  schedule,
  planTime: { at, occurrences },
  now,
}: {
  schedule: Schedule
  planTime: PlanTime
  now: Date
}) {
  const more = occurrences.length - TOLD
  return (
    <>
      <ul className="grid grid-cols-[minmax(0,1fr)] gap-2">
        {occurrences.slice(0, TOLD).map((occurrence) => {
          const { scope, runId } = occurrence
          const kind = kindOf(occurrence, now)
          return (
            <li key={scope} className="flex items-baseline gap-2">
              <Mark kind={kind} className="translate-y-0.5" />
              <span className="min-w-0 [overflow-wrap:anywhere]">
                {occurrences.length > 1 && <span className="font-medium">{scope}: </span>}
                {explain(occurrence, kind, schedule)}
                {runId !== null && (
                  <>
                    {' '}
                    <Link href={`/runs/${runId}`} className="text-accent underline underline-offset-2">
                      Its run
                    </Link>
                  </>
                )}
              </span>
            </li>
          )
        })}
      </ul>
      {more > 0 && (
        <Link href={runsAt(schedule.name, at)} className="text-accent underline underline-offset-2">
          All {count(occurrences.length)} scopes, as runs
        </Link>
      )}
    </>
  )
}

function runsAt(name: string, at: string): string {
  const to = new Date(Date.parse(at) + 1).toISOString()
  return `/runs?${new URLSearchParams({ schedule: name, from: at, to })}`
}
