import { type VerbParts, withLocked } from '../client/verb.js'
import type { Logger } from '../logger.js'
import { isMoved } from '../store/moved.js'
import { type EndedPause, listEndedPauses } from '../store/queries/planning.js'
import type { Providers, Wanted } from './providers.js'

/**
 * Resumes schedules whose pause was to end by now, as any verb would do first. One that cannot be resumed keeps no
 * other from it, and one whose scope provider has not answered yet waits for it: the pause ends at its time however
 * late it is ended. Returns how many were resumed.
 */
export async function resumeEnded(
  parts: VerbParts,
  { limit, ask }: { limit: number; ask: (wanted: readonly Wanted[]) => ReturnType<Providers['answers']> },
  logger: Logger,
): Promise<number> {
  const ended = await listEndedPauses(parts.store, limit)
  if (ended.length === 0) return 0
  const wanted = wantedOf(ended).filter(({ job }) => parts.jobs.get(job)?.scopes)
  const { scopes: given, failed } = await ask(wanted)
  // What is not provided here, or in vain, is recorded without scopes.
  const unanswered = new Set(wanted.map(({ job }) => job))
  for (const job of [...given.keys(), ...failed.map(({ job }) => job)]) unanswered.delete(job)
  const ready = ended.filter(({ provider }) => provider === null || !unanswered.has(provider))
  const scopes = new Map(
    ready.flatMap(({ provider }) =>
      provider === null ? [] : [[provider, given.get(provider)?.scopes ?? null] as const],
    ),
  )
  const resume = (chosen: readonly string[]) =>
    withLocked(parts, chosen, { action: 'resume', actor: undefined, scopes }, async () => {})
  const names = ready.map(({ name }) => name)
  if (names.length === 0) return 0
  try {
    await resume(names)
    return names.length
  } catch (error) {
    if (isMoved(error)) throw error
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

/** Each job once, since the first of its pauses has ended. */
function wantedOf(ended: readonly EndedPause[]): Wanted[] {
  const since = new Map<string, number>()
  for (const { provider, state_until } of ended) {
    const at = state_until.getTime()
    if (provider !== null) since.set(provider, Math.min(since.get(provider) ?? at, at))
  }
  return [...since].map(([job, dueAt]) => ({ job, dueAt }))
}
