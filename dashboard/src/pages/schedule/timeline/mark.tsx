import type { ReactNode } from 'react'
import type { Kind } from './kinds.ts'

const cut = { fill: 'none', stroke: 'var(--color-surface)', strokeWidth: 1.8 } as const
const ring = <circle cx="8" cy="8" r="6" fill="none" />

/** Each has a shape of its own: filled where it is over, a ring where it is to come or goes on. */
const SHAPES: Readonly<Record<Kind, ReactNode>> = {
  succeeded: (
    <>
      <circle cx="8" cy="8" r="7" fill="currentColor" stroke="none" />
      <path d="m4.8 8.2 2.3 2.3 4.2-4.8" {...cut} />
    </>
  ),
  failed: (
    <>
      <rect x="1.5" y="1.5" width="13" height="13" rx="2" fill="currentColor" stroke="none" />
      <path d="m5 5 6 6m0-6-6 6" {...cut} />
    </>
  ),
  running: (
    <>
      {ring}
      <path d="M6.3 5v6l5-3z" fill="currentColor" stroke="none" />
    </>
  ),
  pending: (
    <>
      {ring}
      <circle cx="8" cy="8" r="2.4" fill="currentColor" stroke="none" />
    </>
  ),
  retrying: <path d="M13.5 8A5.5 5.5 0 1 1 11.6 3.8M11.8 1v3.2H8.6" fill="none" />,
  cancelled: (
    <>
      {ring}
      <path d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4" fill="none" />
    </>
  ),
  missed: <path d="M8 2 15 14H1zM8 6.4v3.4m0 1.4v1.2" fill="none" />,
  skipped: <path d="M2 3.5v9L8 8zm6 0v9L14 8zm6-.5v10" fill="none" />,
  due: (
    <>
      {ring}
      <path d="M8 4.6V8l2.4 1.6" fill="none" />
    </>
  ),
  upcoming: ring,
  toBeSkipped: (
    <>
      <circle cx="8" cy="8" r="6" fill="none" strokeDasharray="2.6 2.1" />
      <path d="M4.2 11.8 11.8 4.2" fill="none" />
    </>
  ),
}

/** The sign of a kind, told apart by its shape and not by its colour alone. The word for it is beside it. */
export function Mark({ kind, className = '' }: { kind: Kind; className?: string }) {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 16 16"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinejoin="round"
      className={`size-3.5 shrink-0 ${INKS[kind]} ${className}`}
    >
      {SHAPES[kind]}
    </svg>
  )
}

const INKS: Readonly<Record<Kind, string>> = {
  succeeded: 'text-good',
  failed: 'text-bad',
  running: 'text-accent',
  pending: 'text-accent',
  retrying: 'text-warn',
  cancelled: 'text-muted',
  missed: 'text-warn',
  skipped: 'text-muted',
  due: 'text-warn',
  upcoming: 'text-edge',
  toBeSkipped: 'text-muted',
}
