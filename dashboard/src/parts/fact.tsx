import type { ReactNode } from 'react'
import { Moment } from '../time/moment.tsx'

/** Facts side by side, each with its name. */
export function Facts({ children }: { children: ReactNode }) {
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line md:grid-cols-4">
      {children}
    </dl>
  )
}

export interface FactProps {
  name: string
  isWide?: boolean
  children: ReactNode
}

export function Fact({ name, isWide = false, children }: FactProps) {
  return (
    <div className={`min-w-0 bg-surface px-4 py-2.5 ${isWide ? 'col-span-2' : ''}`}>
      <dt className="text-muted text-xs">{name}</dt>
      <dd className="mt-0.5 [overflow-wrap:anywhere]">{children}</dd>
    </div>
  )
}

/** When it was or will be, and how far away that is. */
export function When({ at, zone }: { at: string | null; zone: string | undefined }) {
  if (at === null) return <Dash />
  return (
    <>
      <Moment at={at} zone={zone} show="local" />{' '}
      <span className="text-muted">
        <Moment at={at} zone={zone} />
      </span>
    </>
  )
}

export const Dash = () => <span className="text-muted">–</span>
