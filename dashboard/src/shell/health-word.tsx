import { useVerdict } from '../health/use-verdict.ts'
import { Badge } from '../parts/badge.tsx'

/** How things are, in a word, on every page. */
export function HealthWord() {
  const verdict = useVerdict()
  if (!verdict) return null
  return (
    <span title={verdict.reason}>
      <Badge tone={verdict.tone}>{verdict.word}</Badge>
    </span>
  )
}
