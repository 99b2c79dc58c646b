import type { ReactNode } from 'react'
import { EscapementError } from '../api/client.ts'

interface FailureProps {
  error: Error | null
  what?: string
  /** What to do about it. */
  children?: ReactNode
}

/** What went wrong, where it went wrong, in the server's own words. */
export function Failure({ error, what, children }: FailureProps) {
  if (error === null) return null
  const code = error instanceof EscapementError ? error.code : undefined
  return (
    <div
      role="alert"
      className="rounded-md border border-bad/40 bg-bad-tint px-3 py-2 text-bad [overflow-wrap:anywhere]"
    >
      {what !== undefined && <strong className="font-semibold">{what} </strong>}
      {error.message}
      {code !== undefined && <code className="ml-2 font-mono text-xs opacity-90">{code}</code>}
      {children}
    </div>
  )
}
