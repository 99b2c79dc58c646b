import { type VerbParts, withLocked } from '../client/verb.js'
import { listEndedPauses } from '../store/queries/planning.js'

/** Resumes schedules whose pause was to end by now, as any verb would do first. Returns how many there were. */
export async function resumeEnded(parts: VerbParts, limit: number): Promise<number> {
  const names = await listEndedPauses(parts.store, limit)
  if (names.length > 0) await withLocked(parts, names, { action: 'resume', actor: undefined }, async () => {})
  return names.length
}
