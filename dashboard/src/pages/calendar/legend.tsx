import { count } from '../../time/format.ts'
import { HEATS } from './heat.ts'

/** What the colours say. */
export function Legend({ levels, isPastShown }: { levels: readonly number[]; isPastShown: boolean }) {
  return (
    <ul aria-label="Colours" className="flex flex-wrap items-center gap-x-3 gap-y-1 text-muted text-xs">
      <li>Runs in an hour:</li>
      {levels.map((top, index) => (
        <li key={top} className="flex items-center gap-1.5">
          <span aria-hidden="true" className={`size-3.5 rounded-sm border border-line ${HEATS[index + 1]}`} />
          up to {count(top)}
        </li>
      ))}
      {isPastShown && (
        <li className="flex items-center gap-1.5">
          <span aria-hidden="true" className="size-3.5 rounded-sm border border-line bg-raised" />
          past: leads to its runs
        </li>
      )}
    </ul>
  )
}
