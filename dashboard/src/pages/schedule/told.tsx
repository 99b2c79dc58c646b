import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { EscapementError } from '../../api/client.ts'
import { Failure } from '../../parts/failure.tsx'
import { adviceOn } from './advice.ts'

/** What came of the last thing that was asked for. */
export type Outcome = { verb: string; refused: Error } | { done: ReactNode } | null

export type Tell = (outcome: Outcome) => void

/** It outlives the dialog, whose button may go with the state that was refused. */
export function Told({ name, outcome }: { name: string; outcome: Outcome }) {
  if (outcome === null) return null
  if ('done' in outcome) {
    return (
      <div role="status" className="rounded-md border border-good/40 bg-good-tint px-3 py-2 text-good">
        {outcome.done}
      </div>
    )
  }
  const { verb, refused } = outcome
  const code = refused instanceof EscapementError ? refused.code : undefined
  const advice = adviceOn(code)
  return (
    <Failure error={refused} what={`${verb}: not done.`}>
      {advice !== undefined && <p className="mt-1">{advice}</p>}
      {code === 'run_open' && (
        <Link href={`/runs?schedule=${encodeURIComponent(name)}`} className="underline underline-offset-2">
          See its runs
        </Link>
      )}
    </Failure>
  )
}
