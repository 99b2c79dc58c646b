import { askProviders } from '../client/scopes.js'
import type { Clock } from '../clock.js'
import { within } from '../deadline.js'
import type { JobRegistry } from '../runs/job-registry.js'
import type { Instant } from '../time/instant.js'

/** What a provider said, and when it was asked: that is of use for plan times that were due by then. */
export interface ScopesAt {
  askedAt: Instant
  scopes: readonly string[]
}

interface Answers {
  scopes: ReadonlyMap<string, ScopesAt>
  failed: readonly { job: string; error: unknown }[]
}

type Answer = ScopesAt | { askedAt: Instant; error: unknown }

/** A job whose scopes are wanted, and since when. */
export interface Wanted {
  job: string
  dueAt: Instant
}

/**
 * Asks scope providers beside the ticks. They are the user's code and may take their time: a tick waits for them for
 * `patienceMs`, goes on without those that have not answered, and what they say then is for the tick after. By then
 * somebody else may have decided what they were asked for: an answer from before `dueAt` is no answer, and they
 * are asked again.
 */
export interface Providers {
  answers(wanted: readonly Wanted[], now: Instant, patienceMs: number): Promise<Answers>
  isAsking(job: string): boolean
}

export function createProviders(jobs: JobRegistry, clock: Clock, onAnswer: () => void): Providers {
  const asking = new Map<string, Promise<void>>()
  const answered = new Map<string, Answer>()

  async function ask(job: string, askedAt: Instant): Promise<void> {
    const given = await askProviders({ jobs, clock }, [job], askedAt, (_, error) =>
      answered.set(job, { askedAt, error }),
    )
    for (const [name, scopes] of given) answered.set(name, { askedAt, scopes })
    asking.delete(job)
    onAnswer()
  }

  /** Each answer is given once, and not at all if it is too old. */
  function take({ job, dueAt }: Wanted): Answer | undefined {
    const answer = answered.get(job)
    answered.delete(job)
    return answer !== undefined && answer.askedAt >= dueAt ? answer : undefined
  }

  return {
    isAsking: (job) => asking.has(job),
    async answers(wanted, now, patienceMs) {
      const scopes = new Map<string, ScopesAt>()
      const failed: { job: string; error: unknown }[] = []
      const collect = (one: Wanted) => {
        const answer = take(one)
        if (answer === undefined) return false
        if ('scopes' in answer) scopes.set(one.job, answer)
        else failed.push({ job: one.job, error: answer.error })
        return true
      }
      const open = wanted.filter((one) => !collect(one))
      for (const { job } of open) if (!asking.has(job)) asking.set(job, ask(job, now))
      const waited = Promise.all(open.map(({ job }) => asking.get(job)))
      await (patienceMs === Number.POSITIVE_INFINITY ? waited : within(clock, patienceMs, waited, () => {}))
      for (const one of open) collect(one)
      return { scopes, failed }
    },
  }
}
