import { count } from '../../../time/format.ts'
import { DstMark } from './dst-mark.tsx'
import { briefOf, KIND_WORDS, type Kind, kindOf } from './kinds.ts'
import { Mark } from './mark.tsx'
import { kindsOf, type PlanTime } from './plan-times.ts'

const LOOKS: Readonly<Record<Kind, string>> = {
  succeeded: 'border-transparent bg-good-tint',
  failed: 'border-bad bg-bad-tint text-bad',
  running: 'border-accent bg-raised',
  pending: 'border-line bg-raised',
  retrying: 'border-warn bg-warn-tint',
  cancelled: 'border-transparent bg-raised text-muted',
  missed: 'border-transparent bg-warn-tint text-warn',
  skipped: 'border-transparent bg-raised text-muted',
  due: 'border-warn bg-surface',
  upcoming: 'border-edge/60 bg-surface',
  toBeSkipped: 'border-edge border-dashed bg-surface text-muted',
}

export interface ChipProps {
  planTime: PlanTime
  /** What it is called in its group. */
  label: string
  /** What its group is called: for those who do not see where it stands. */
  heading: string | undefined
  now: Date
  isOpen: boolean
  onOpen: (anchor: HTMLElement) => void
}

/** One plan time: when, and what became of it. */
export function Chip({ planTime, label, heading, now, isOpen, onOpen }: ChipProps) {
  const { at, note, occurrences } = planTime
  const counts = [...kindsOf(occurrences, now)]
  const [first] = occurrences
  const kind = kindOf(first!, now)
  const isOne = occurrences.length === 1
  const brief = isOne ? briefOf(first!, kind) : undefined
  const look = counts.length === 1 ? LOOKS[kind] : 'border-line bg-raised'
  return (
    <button
      type="button"
      aria-haspopup="dialog"
      aria-expanded={isOpen}
      onClick={({ currentTarget }) => onOpen(currentTarget)}
      className={`flex min-h-7 items-center gap-1.5 rounded-md border px-2 text-xs tabular-nums hover:ring-2 hover:ring-accent/40 aria-expanded:ring-2 aria-expanded:ring-accent ${look}`}
    >
      {heading !== undefined && <span className="sr-only">{heading}, </span>}
      {isOne && <Mark kind={kind} />}
      <time dateTime={at} className={kind === 'toBeSkipped' ? 'line-through' : ''}>
        {label}
      </time>
      {isOne ? (
        <Words kind={kind} brief={brief} />
      ) : (
        counts.map(([each, size]) => (
          <span key={each} className="flex items-center gap-1">
            <Mark kind={each} />
            {count(size)}
            <span className="sr-only">{KIND_WORDS[each]}</span>
          </span>
        ))
      )}
      {note !== null && (
        <>
          <DstMark />
          <span className="sr-only">(touched by daylight saving)</span>
        </>
      )}
    </button>
  )
}

/** What is to be seen beside the time, and the rest for those who only hear. */
function Words({ kind, brief }: { kind: Kind; brief: string | undefined }) {
  const word = KIND_WORDS[kind]
  return (
    <>
      {brief !== word && <span className="sr-only">{brief === undefined ? word : `${word}: `}</span>}
      {brief !== undefined && <span>{brief}</span>}
    </>
  )
}
