import type { Run } from '../api/client.ts'
import { span } from '../time/relative.ts'
import { useNow } from '../time/use-now.ts'

/** How long its newest attempt took, or takes already. */
export function Duration({
  run: { state, startedAt, finishedAt },
}: {
  run: Pick<Run, 'state' | 'startedAt' | 'finishedAt'>
}) {
  const now = useNow()
  if (startedAt === null) return <span className="text-muted">–</span>
  if (finishedAt === null && state !== 'running') return <span className="text-muted">–</span>
  const endMs = finishedAt === null ? now.getTime() : Date.parse(finishedAt)
  return <span className="whitespace-nowrap">{span(Math.max(0, endMs - Date.parse(startedAt)))}</span>
}
