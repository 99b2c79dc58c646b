import { count } from '../../../time/format.ts'
import { DstMark } from './dst-mark.tsx'
import { KIND_WORDS, KINDS, type Occurrence } from './kinds.ts'
import { Mark } from './mark.tsx'
import { kindsOf } from './plan-times.ts'

/** What the signs mean, of those that are shown, and how many there are of each. */
export function Legend({ occurrences, now }: { occurrences: readonly Occurrence[]; now: Date }) {
  const counts = kindsOf(occurrences, now)
  return (
    <ul aria-label="Legend" className="flex flex-wrap gap-x-4 gap-y-1 text-xs">
      {KINDS.filter((kind) => counts.has(kind)).map((kind) => (
        <li key={kind} className="flex items-center gap-1.5 whitespace-nowrap">
          <Mark kind={kind} />
          {KIND_WORDS[kind]}
          <span className="text-muted tabular-nums">{count(counts.get(kind)!)}</span>
        </li>
      ))}
      {occurrences.some(({ note }) => note !== null) && (
        <li className="flex items-center gap-1.5">
          <DstMark />
          touched by daylight saving
        </li>
      )}
    </ul>
  )
}
