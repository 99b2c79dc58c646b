import { Link } from 'wouter'
import { buttonStyle } from '../../../parts/button.tsx'
import type { Timeline } from './kinds.ts'
import type { Window } from './use-window.ts'

export interface PagingProps {
  window: Window
  timeline: Timeline
  hrefOf: (window: Window) => string
}

/** To what was earlier, to what is later, and back to now. */
export function Paging({ window, timeline: { occurrences, hasEarlier, hasLater }, hrefOf }: PagingProps) {
  const isElsewhere = window.before !== undefined || window.from !== undefined
  if (!isElsewhere && !hasEarlier && !hasLater) return null
  const first = occurrences[0]?.planTime ?? window.before ?? window.from
  const last = occurrences.at(-1)?.planTime
  const end = last === undefined ? (window.before ?? window.from) : after(last)
  const style = `${buttonStyle()} h-7! px-2! text-xs`
  return (
    <nav aria-label="Timeline" className="flex gap-1.5">
      {hasEarlier && first !== undefined && (
        <Link href={hrefOf({ before: first })} className={style}>
          Earlier
        </Link>
      )}
      {isElsewhere && (
        <Link href={hrefOf({})} className={style}>
          Around now
        </Link>
      )}
      {hasLater && end !== undefined && (
        <Link href={hrefOf({ from: end })} className={style}>
          Later
        </Link>
      )}
    </nav>
  )
}

const after = (instant: string) => new Date(Date.parse(instant) + 1).toISOString()
