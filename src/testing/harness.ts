import type { Runs } from '../client/runs.js'
import type { Schedules } from '../client/schedules.js'
import type { Transitions } from '../client/transitions.js'
import { assemble, type Escapement } from '../escapement.js'
import type { EscapementOptions } from '../options.js'
import { msUntilEligible } from '../store/queries/claiming.js'
import { msUntilLeaseExpires } from '../store/queries/leases.js'
import { msUntilWake } from '../store/queries/planning.js'
import { listRunsOfSchedule } from '../store/queries/runs.js'
import { type DurationInput, durationToMs } from '../time/duration.js'
import { type InstantInput, readInstant } from '../time/instant.js'
import { readOrThrow } from '../time/report.js'
import { TIMING_KINDS } from '../time/timing.js'
import { createManualClock } from './manual-clock.js'

/** What `createHarness` takes. */
export interface HarnessOptions extends Omit<EscapementOptions, 'clock'> {
  /** Where the clock stands at first. */
  at: InstantInput
  /**
   * Where everything is kept.
   * @default 'memory:'
   */
  database?: EscapementOptions['database']
}

/** Escapement with a clock that stands still until the test moves it. Everything else is real. */
export interface Harness {
  readonly escapement: Escapement
  readonly schedules: Schedules
  readonly runs: Runs
  readonly transitions: Transitions
  readonly job: Escapement['job']
  now(): Date
  /**
   * Moves the clock by `duration`, stopping at each instant at which something is due, so that each tick, claim and
   * completion happens at its own time. Resolves when all that was due has been done.
   */
  advance(duration: DurationInput): Promise<void>
  /** Moves the clock without doing anything, as if every process had been down. */
  jump(duration: DurationInput): void
  /** The plan times of a schedule's runs, oldest first, as ISO text; manual runs have none. */
  planTimes(schedule: string): Promise<string[]>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const ALL = 1_000_000
const LOOK_AGAIN_MS = 1_000

export async function createHarness({ at, ...options }: HarnessOptions): Promise<Harness> {
  const clock = createManualClock(readOrThrow('option_invalid', (report) => readInstant(at, 'at', report)))
  const { escapement, settings, store, jobs, scheduler, worker, sweeper } = await assemble({
    database: 'memory:',
    ...options,
    clock,
  })

  /** Works, sweeps and ticks until nothing is left to do at this instant: each may leave something for the others. */
  async function settle(): Promise<void> {
    let isDone: boolean
    do {
      await worker.drain()
      const { updated, deleted, truncated } = await sweeper.sweep()
      const { due } = await scheduler.tick()
      isDone = updated + deleted + due === 0 && !truncated
    } while (!isDone)
  }

  async function msUntilDue(): Promise<number> {
    const names = jobs.all().map(({ name }) => name)
    const withProvider = jobs.all().flatMap(({ name, scopes }) => (scopes ? [name] : []))
    const waits = await Promise.all([
      msUntilWake(store, { kinds: TIMING_KINDS, providers: withProvider }),
      msUntilEligible(store, { queues: settings.worker.queues, jobs: names }),
      msUntilLeaseExpires(store),
      sweeper.msUntilDue(),
    ])
    return Math.min(...waits.map((ms) => ms ?? Number.POSITIVE_INFINITY))
  }

  return {
    escapement,
    schedules: escapement.schedules,
    runs: escapement.runs,
    transitions: escapement.transitions,
    job: escapement.job,
    now: () => new Date(clock.now()),
    async advance(duration) {
      const target = clock.now() + durationToMs(duration)
      await settle()
      for (;;) {
        const ms = await msUntilDue()
        // Due and yet not done (a scope provider fails, say): look again a little later, as a scheduler would.
        const due = clock.now() + (ms > 0 ? ms : LOOK_AGAIN_MS)
        if (due > target) break
        clock.set(due)
        await settle()
      }
      clock.set(target)
    },
    jump: (duration) => clock.set(clock.now() + durationToMs(duration)),
    async planTimes(schedule) {
      const { id } = await escapement.schedules.get(schedule)
      const runs = await listRunsOfSchedule(store, { scheduleId: id, limit: ALL })
      return runs.flatMap(({ plan_time }) => plan_time?.toISOString() ?? []).reverse()
    },
    close: () => escapement.close(),
    [Symbol.asyncDispose]: () => escapement.close(),
  }
}
