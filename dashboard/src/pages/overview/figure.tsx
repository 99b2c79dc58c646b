import { count } from '../../time/format.ts'

const TONES = { bad: 'text-bad', warn: 'text-warn' } as const

export interface FigureProps {
  name: string
  value: string
  unit: string
  /** What belongs to it; a tone is for what there should be none of. */
  parts?: readonly (readonly [number: number, name: string, tone?: keyof typeof TONES])[]
  note?: string
}

export function Figure({ name, value, unit, parts = [], note }: FigureProps) {
  return (
    <div className="min-w-0 bg-surface px-4 py-3">
      <dt className="text-muted text-xs">{name}</dt>
      <dd className="mt-1">
        <span className="font-semibold text-2xl tabular-nums leading-8 tracking-tight">{value}</span>{' '}
        <span className="text-muted">{unit}</span>
        <span className="mt-0.5 flex flex-wrap gap-x-3 text-muted text-xs">
          {parts.map(([number, part, tone]) => (
            <span key={part} className={tone && number > 0 ? `font-medium ${TONES[tone]}` : ''}>
              {count(number)} {part}
            </span>
          ))}
          {note}
        </span>
      </dd>
    </div>
  )
}
