import { memo } from 'react'
import { shortTime } from '../time/format.ts'
import { useShownZone } from '../time/shown-zone.tsx'
import {
  isRange,
  kindOf,
  type MarkKind,
  type RecentOccurrence,
  recentInWords,
  wordOf,
} from './recent-words.ts'

const STEP = 6
const WIDTH = 4
const HEIGHT = 18

/** What became of the last plan times, oldest left: one thing to hear, and each mark says what it is when it is pointed at. */
export const RecentStrip = memo(function RecentStrip({ recent }: { recent: readonly RecentOccurrence[] }) {
  const zone = useShownZone()
  const width = recent.length * STEP - (STEP - WIDTH)
  return (
    <svg role="img" aria-label={recentInWords(recent)} width={width} height={HEIGHT} className="block">
      {recent.map((each, place) => (
        <g
          key={`${each.planTime} ${each.scope} ${each.disposition}`}
          transform={`translate(${place * STEP} 0)`}
        >
          <title>{titleOf(each, zone)}</title>
          <rect width={STEP} height={HEIGHT} className="fill-transparent" />
          <Mark kind={kindOf(each)} />
        </g>
      ))}
    </svg>
  )
})

/** Told apart by height and shape, and by colour besides. */
function Mark({ kind }: { kind: MarkKind }) {
  switch (kind) {
    case 'good':
      return <rect y={4} width={WIDTH} height={HEIGHT - 4} rx={1} className="fill-good" />
    case 'bad':
      return (
        <>
          <rect width={WIDTH} height={HEIGHT - 6} rx={1} className="fill-bad" />
          <rect y={HEIGHT - 4} width={WIDTH} height={4} rx={1} className="fill-bad" />
        </>
      )
    case 'open':
      return (
        <rect
          x={0.5}
          y={4.5}
          width={WIDTH - 1}
          height={HEIGHT - 5}
          rx={1}
          className="fill-none stroke-accent"
        />
      )
    case 'cancelled':
      return <rect y={HEIGHT / 2} width={WIDTH} height={HEIGHT / 2} rx={1} className="fill-edge" />
    case 'skipped':
      return <circle cx={WIDTH / 2} cy={HEIGHT / 2 + 2} r={WIDTH / 2} className="fill-warn" />
  }
}

function titleOf(each: RecentOccurrence, zone: string | undefined): string {
  const now = new Date()
  const [first, last] = [each.firstPlanTime, each.planTime].map((at) => shortTime(new Date(at), now, zone))
  const when = isRange(each) ? `${first} to ${last}` : last
  return `${when}: ${wordOf(each)}${each.scope === 'global' || each.scope === '' ? '' : `, for ${each.scope}`}`
}

const LEGEND: readonly (readonly [MarkKind, string])[] = [
  ['good', 'ran well'],
  ['bad', 'failed'],
  ['open', 'waits or runs'],
  ['cancelled', 'cancelled'],
  ['skipped', 'missed or skipped'],
]

/** What the marks mean. */
export function RecentLegend({ count }: { count: number }) {
  return (
    <div className="flex flex-wrap gap-x-4 gap-y-1 text-muted text-xs leading-[18px]">
      <span>The last {count} plan times of each, the newest on the right:</span>
      <ul aria-label="What the marks mean" className="flex flex-wrap gap-x-4 gap-y-1">
        {LEGEND.map(([kind, words]) => (
          <li key={kind} className="flex items-center gap-1.5">
            <svg aria-hidden="true" width={WIDTH} height={HEIGHT}>
              <Mark kind={kind} />
            </svg>
            {words}
          </li>
        ))}
      </ul>
    </div>
  )
}
