import { clockTime, count } from '../../time/format.ts'
import type { HerdMinute } from './herd-minutes.ts'

const HEIGHT = 96
const EVERY_MINUTES = 15

/** One bar for each minute. */
export function HerdChart({ minutes, label }: { minutes: readonly HerdMinute[]; label: string }) {
  const most = Math.max(...minutes.map(({ runs }) => runs))
  const ticks = minutes.filter((_, index) => index % EVERY_MINUTES === 0)
  return (
    <div className="px-4 pt-4 pb-3">
      <svg
        role="img"
        aria-label={label}
        viewBox={`0 0 ${minutes.length * 10} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="block h-24 w-full border-line border-b"
      >
        {minutes.map(({ from, runs }, index) => {
          const height = runs === 0 ? 0 : Math.max(2, (runs / most) * HEIGHT)
          return (
            <g key={from.getTime()} className="fill-accent/75 hover:fill-accent">
              <title>{`${clockTime(from)} – ${count(runs)} ${runs === 1 ? 'run' : 'runs'}`}</title>
              <rect x={index * 10} y={0} width={10} height={HEIGHT} fill="transparent" />
              <rect x={index * 10 + 1.5} y={HEIGHT - height} width={7} height={height} />
            </g>
          )
        })}
      </svg>
      <div aria-hidden="true" className="mt-1.5 grid grid-cols-4 text-muted text-xs">
        {ticks.map(({ from }) => (
          <span key={from.getTime()}>{clockTime(from)}</span>
        ))}
      </div>
    </div>
  )
}
