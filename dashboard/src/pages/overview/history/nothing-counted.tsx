import { clockTime } from '../../../time/format.ts'
import { useNow } from '../../../time/use-now.ts'
import type { Span } from './spans.ts'

const MINUTE_MS = 60_000

/** Where there is no point yet: since when it could be, or when the first comes. */
export function NothingCounted({ span }: { span: Span }) {
  const next = new Date((Math.floor(useNow().getTime() / MINUTE_MS) + 1) * MINUTE_MS)
  return (
    <div className="grid gap-1 p-4">
      <p>No run ended or started in the {span.words}.</p>
      <p className="text-muted">
        Each minute is counted by a scheduler when it is over: what runs now is shown soon after{' '}
        {clockTime(next)}.
      </p>
    </div>
  )
}
