import type { Run } from '../api/client.ts'
import { Badge, type Tone } from '../parts/badge.tsx'

const TONES: Readonly<Record<Run['state'], Tone>> = {
  pending: 'quiet',
  running: 'busy',
  retrying: 'warn',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'quiet',
  skipped: 'quiet',
}

export function RunState({ state }: { state: Run['state'] }) {
  return <Badge tone={TONES[state]}>{state}</Badge>
}
