import { endPause } from '../client/pausing.js'
import type { VerbParts } from '../client/verb.js'
import { listEndedPauses } from '../store/queries/planning.js'

/** Resumes schedules whose pause was to end by now. Returns how many there were. */
export async function endPauses(parts: VerbParts, limit: number): Promise<number> {
  const names = await listEndedPauses(parts.store, limit)
  if (names.length > 0) await endPause(parts, names)
  return names.length
}
