import type { RunState } from '../runs/run.js'

/** One run of those that a claim took. */
export interface ClaimedRun {
  job: string
  queue: string
  attempt: number
  /** From its eligible at to the claim, by the database's clock. */
  latenessMs: number
}

/**
 * What the parts of this process tell of their work, for those who measure it. These stay in the process: nobody else is told
 * of them, and what other processes do is never among them. Emitted only where somebody listens.
 */
export interface LocalEventMap {
  /** One batch of due schedules was decided; often an empty one. */
  'scheduler.ticked': { durationMs: number; schedules: number; runs: number }
  /** The database has answered a claim, perhaps with nothing; or a run was handed over, which took no claim and no time. */
  'worker.claimed': { durationMs: number | null; runs: readonly ClaimedRun[] }
  /** A run that a handler of this process works on is somebody else's by now. */
  'worker.leaseLost': { runId: string }
  /** One pass over the declared tables. */
  'sweeper.swept': { durationMs: number; updated: number; deleted: number; quarantined: number }
  /** An attempt has ended, or a run without one. `retrying` is not the end of the run. */
  'run.ended': {
    job: string
    state: Exclude<RunState, 'pending' | 'running'>
    /** How long the attempt took until its outcome was written down; null where this process did not make it. */
    durationMs: number | null
  }
}

export const LOCAL_EVENT_NAMES = [
  'scheduler.ticked',
  'worker.claimed',
  'worker.leaseLost',
  'sweeper.swept',
  'run.ended',
] as const satisfies (keyof LocalEventMap)[]
