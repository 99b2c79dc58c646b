import { everyZone, exactTime, shortTime } from './format.ts'
import { relative } from './relative.ts'
import { useShownZone } from './shown-zone.tsx'
import { useNow } from './use-now.ts'

export interface MomentProps {
  /** ISO, as the API gives it. */
  at: string
  /** That of the schedule. */
  zone?: string | undefined
  /** What is shown; the rest is told when it is pointed at. */
  show?: 'relative' | 'local' | 'exact'
  className?: string
}

/** An instant: how far away, or when in the zone that is shown; in UTC and in its own zone when it is pointed at. */
export function Moment({ at, zone, show = 'relative', className = '' }: MomentProps) {
  const now = useNow()
  const shown = useShownZone()
  const instant = new Date(at)
  return (
    <time dateTime={at} title={everyZone(instant, zone)} className={`whitespace-nowrap ${className}`}>
      {show === 'relative' ? relative(instant, now) : SHOWN[show](instant, now, shown)}
    </time>
  )
}

const SHOWN = { local: shortTime, exact: exactTime } as const
