import { askProviders, type ProvidedScopes } from '../client/scopes.js'
import type { JobRegistry } from '../runs/job-registry.js'
import type { Instant } from '../time/instant.js'

interface Answers {
  scopes: ProvidedScopes
  failed: readonly { job: string; error: unknown }[]
}

/**
 * Asks scope providers beside the ticks. They are the user's code and may take their time: a tick waits for them for
 * `patienceMs`, goes on without those that have not answered, and what they say then is for the tick after.
 */
export interface Providers {
  answers(jobs: readonly string[], now: Instant, patienceMs: number): Promise<Answers>
  isAsking(job: string): boolean
}

export function createProviders(jobs: JobRegistry, onAnswer: () => void): Providers {
  const asking = new Map<string, Promise<void>>()
  let scopes = new Map<string, readonly string[]>()
  let failed: { job: string; error: unknown }[] = []

  async function ask(job: string, now: Instant): Promise<void> {
    const answer = await askProviders(jobs, [job], now, (_, error) => void failed.push({ job, error }))
    for (const [name, given] of answer) scopes.set(name, given)
    asking.delete(job)
    onAnswer()
  }

  return {
    isAsking: (job) => asking.has(job),
    async answers(wanted, now, patienceMs) {
      for (const job of wanted) {
        if (!asking.has(job) && !scopes.has(job)) asking.set(job, ask(job, now))
      }
      const waited = Promise.all(wanted.map((job) => asking.get(job)))
      await (patienceMs === Number.POSITIVE_INFINITY ? waited : Promise.race([waited, passing(patienceMs)]))
      const answers = { scopes, failed }
      scopes = new Map()
      failed = []
      return answers
    },
  }
}

function passing(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}
