import type { PointerEvent, ReactNode } from 'react'
import { HEIGHT, type Tick } from './geometry.ts'

export interface ChartProps {
  title: string
  /** All of it in a sentence, for whoever does not see it. */
  label: string
  /** What the colours stand for, where there are several. */
  legend?: ReactNode
  /** What is shown of the point that is looked at, or of all. */
  readout: string
  /** The same for each point, as it is said aloud. */
  sayPoint: (index: number) => string
  points: number
  at: number | null
  onLook: (index: number | null) => void
  rows: readonly Tick[]
  columns: readonly Tick[]
  /** In units of one for each point, and `HEIGHT`. */
  children: ReactNode
}

const percent = (share: number) => `${share * 100}%`

const [FIRST, LAST] = [0.04, 0.95]
/** In the middle below its place, but where that would reach over an edge. */
function edgeOf(place: number): string {
  if (place > LAST) return 'right-0'
  return place < FIRST ? '' : '-translate-x-1/2'
}

/** The frame of a chart: axes, what its colours mean, and a readout that follows the pointer, a finger or the arrow keys. */
export function Chart({ points, at, onLook, rows, columns, sayPoint, ...props }: ChartProps) {
  const look = ({ clientX, currentTarget }: PointerEvent<HTMLInputElement>) => {
    const { left, width } = currentTarget.getBoundingClientRect()
    onLook(Math.min(points - 1, Math.max(0, Math.floor(((clientX - left) / width) * points))))
  }
  return (
    <figure className="min-w-0 px-4 pt-3 pb-3">
      <figcaption className="grid gap-1">
        <h3 className="font-medium">{props.title}</h3>
        <p className="min-h-8 text-muted text-xs leading-4 sm:min-h-4">{props.readout}</p>
        {props.legend && <ul className="flex flex-wrap gap-x-3 text-muted text-xs">{props.legend}</ul>}
      </figcaption>
      <div className="mt-3 grid grid-cols-[auto_minmax(0,1fr)] gap-x-2">
        <div aria-hidden="true" className="relative w-11 text-right text-muted text-xs">
          {rows.map(({ place, label }) => (
            <span
              key={label}
              className="absolute right-0 translate-y-1/2 whitespace-nowrap leading-none"
              style={{ bottom: percent(place) }}
            >
              {label}
            </span>
          ))}
        </div>
        <div className="relative h-32">
          <svg
            role="img"
            aria-label={props.label}
            viewBox={`0 0 ${points} ${HEIGHT}`}
            preserveAspectRatio="none"
            className="block h-full w-full"
          >
            <g className="stroke-line">
              {rows.map(({ place, label }) => (
                <line
                  key={label}
                  x1={0}
                  x2={points}
                  y1={HEIGHT * (1 - place)}
                  y2={HEIGHT * (1 - place)}
                  vectorEffect="non-scaling-stroke"
                />
              ))}
            </g>
            <g className="stroke-line">
              {columns.map(({ place, label }) => (
                <line
                  key={`${place} ${label}`}
                  x1={points * place}
                  x2={points * place}
                  y1={HEIGHT - 4}
                  y2={HEIGHT}
                  vectorEffect="non-scaling-stroke"
                />
              ))}
            </g>
            {at !== null && <rect x={at} y={0} width={1} height={HEIGHT} className="fill-accent/20" />}
            {props.children}
          </svg>
          <input
            type="range"
            aria-label={`${props.title}: point in time`}
            aria-valuetext={sayPoint(at ?? points - 1)}
            min={0}
            max={points - 1}
            value={at ?? points - 1}
            onChange={({ target }) => onLook(target.valueAsNumber)}
            onFocus={() => onLook(at ?? points - 1)}
            onBlur={() => onLook(null)}
            onPointerMove={look}
            onPointerLeave={() => onLook(null)}
            className="peer absolute inset-0 h-full w-full cursor-crosshair opacity-0"
          />
          <span className="-inset-1 pointer-events-none absolute rounded-sm peer-focus-visible:outline-2 peer-focus-visible:outline-accent" />
        </div>
        <div aria-hidden="true" className="relative col-start-2 mt-1.5 h-4 text-muted text-xs">
          {columns.map(({ place, label }) => (
            <span
              key={`${place} ${label}`}
              className={`absolute leading-4 ${edgeOf(place)}`}
              style={place > LAST ? {} : { left: percent(place) }}
            >
              {label}
            </span>
          ))}
        </div>
      </div>
    </figure>
  )
}

/** One of the colours of a chart, and what it stands for. */
export function LegendItem({ swatch, children }: { swatch: string; children: ReactNode }) {
  return (
    <li className="flex items-center gap-1.5">
      <span aria-hidden="true" className={`inline-block w-3 ${swatch}`} />
      {children}
    </li>
  )
}
