import type { Clock } from '../clock.js'
import { within } from '../deadline.js'
import { EscapementError } from '../errors.js'
import type { JobRegistry } from '../runs/job-registry.js'
import { isScope } from '../schedules/schedule.js'
import type { Instant } from '../time/instant.js'

/** What scope providers gave, by job; null of one that was asked in vain. */
export type ProvidedScopes = ReadonlyMap<string, readonly string[] | null>

/** A provider is code of the user's: it gets this long, so that it cannot hold up the others. */
const PROVIDER_DEADLINE_MS = 5_000

/**
 * Asks the providers of these jobs, all at once and before any transaction. One that throws, takes too long or gives
 * nonsense is left out and told to `onFailure`.
 */
export async function askProviders(
  { jobs, clock }: { jobs: JobRegistry; clock: Clock },
  names: readonly string[],
  now: Instant,
  onFailure: (job: string, error: unknown) => void,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const asked = names.map(async (name) => {
    const provider = jobs.get(name)?.scopes
    if (!provider) return []
    try {
      const scopes: unknown = await within(
        clock,
        PROVIDER_DEADLINE_MS,
        provider({ now: new Date(now) }),
        tooLate,
      )
      return [[name, checked(name, scopes)] as const]
    } catch (error) {
      onFailure(name, error)
      return []
    }
  })
  return new Map((await Promise.all(asked)).flat())
}

function tooLate(): never {
  throw new Error(`it took longer than ${PROVIDER_DEADLINE_MS / 1000} s`)
}

function checked(job: string, scopes: unknown): readonly string[] {
  if (Array.isArray(scopes) && scopes.every(isScope)) return [...new Set(scopes as string[])]
  throw new EscapementError('provider_failed', {
    message: `job "${job}": scopes must give a list of texts, each of 1 to 200 characters`,
    details: { job },
  })
}
