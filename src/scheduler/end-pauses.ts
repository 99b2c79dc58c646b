import { type VerbParts, withLocked } from '../client/verb.js'
import type { Logger } from '../logger.js'
import { listEndedPauses } from '../store/queries/planning.js'

/**
 * Resumes schedules whose pause was to end by now, as any verb would do first. One that cannot be resumed keeps no
 * other from it. Returns how many were.
 */
export async function resumeEnded(parts: VerbParts, limit: number, logger: Logger): Promise<number> {
  const names = await listEndedPauses(parts.store, limit)
  const resume = (chosen: readonly string[]) =>
    withLocked(parts, chosen, { action: 'resume', actor: undefined }, async () => {})
  if (names.length === 0) return 0
  try {
    await resume(names)
    return names.length
  } catch {
    let resumed = 0
    for (const name of names) {
      const failed = (error: unknown) => {
        logger.error({ schedule: name, err: error }, 'a pause could not be ended')
        return 0
      }
      resumed += await resume([name]).then(() => 1, failed)
    }
    return resumed
  }
}
