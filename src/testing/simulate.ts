import type { Escapement } from '../escapement.js'
import { type EngineHere, openEngineHere } from '../store/pglite-here.js'
import { type DurationInput, readElapsed } from '../time/duration.js'
import { type InstantInput, readInstant } from '../time/instant.js'
import { quote, readOrThrow } from '../time/report.js'
import { checkAll } from './simulation/checks.js'
import { type FaultRates, readFaults } from './simulation/faults.js'
import type { Define, ProcessOptions } from './simulation/process.js'
import { Simulation, type SimulationParts } from './simulation/simulation.js'
import { type Act, randomVerbs } from './simulation/verbs.js'
import type { Execution } from './simulation/witness.js'

/** What `simulate` takes. */
export interface SimulationOptions {
  /** Decides everything that is left to chance: the same seed is the same history. A whole number. */
  seed: number
  /** How long it lasts, in simulated time. */
  during: DurationInput
  /**
   * Registers the jobs of a process. Called for each process, and again whenever one starts anew. Handlers may use the database,
   * and `host` for time and chance; what else they wait for is not in the seed's hand.
   */
  define: Define
  /** Puts what the simulation begins with, once, before any process starts. */
  arrange?(escapement: Escapement): unknown
  /**
   * When it begins.
   * @default '2026-01-01T00:00:00Z'
   */
  at?: InstantInput
  /**
   * How many processes there are, each with a scheduler, a worker and a sweeper.
   * @default 3
   */
  processes?: number
  /** How often what goes wrong; false for nothing. See {@link FaultRates} for the defaults. */
  faults?: Partial<FaultRates> | false
  /** What people do meanwhile; false for nothing. */
  verbs?: SimulatedVerbOptions | false
  /** Options of each process, such as `worker` and `scheduler`. */
  options?: ProcessOptions
  /** Looks at the end, when all is at rest, whether what should be is. Throw to fail the seed. */
  check?(ended: SimulationEnd): unknown
}

/** What people do while a simulation lasts. */
export interface SimulatedVerbOptions {
  /**
   * The mean time between two acts.
   * @default '1 hour'
   */
  every?: DurationInput
  /**
   * What is done, by one of the processes; without it, `randomVerbs`: pause, resume, patch, trigger, skip, backfill, delete … of one of
   * the schedules. It may be refused with an error of ours, or cut off.
   */
  act?: Act
}

export const SIMULATION_DEFAULTS = {
  at: '2026-01-01T00:00:00Z',
  processes: 3,
} satisfies Partial<SimulationOptions>

export const SIMULATED_VERBS_DEFAULTS = { every: '1 hour' } satisfies SimulatedVerbOptions

/** What `check` is given. */
export interface SimulationEnd {
  /** Of one who stands outside: its calls are no part of the simulation. */
  escapement: Escapement
  /** Every call of a handler, in the order in which they began. */
  executions: readonly Execution[]
  report: SimulationReport
}

export interface SimulationReport {
  seed: number
  /** Statements that were carried out. */
  steps: number
  /** A hash of every statement, every answer, and everything that befell: equal for two runs of one seed. */
  trace: string
  endedAt: Date
  schedules: number
  occurrences: number
  runs: number
  /** Calls of handlers. */
  executions: number
  /** How often what happened, by kind. */
  happened: Simulation['counts']
}

/**
 * Plays one seed: several processes on one database, in simulated time, with crashes, broken connections, commits whose answer is
 * lost, delays, frozen processes and people's verbs, all ordered by the seed. At the end everything is let heal, and then
 * `audit()` must be clean, nothing may be stuck or dead, what handlers did must be as recorded, and no more of them may have been at
 * work at once than lanes and limits allow. Rejects with a {@link SimulationFailure} that names the seed; the same seed with the same
 * options goes the same way again.
 *
 * All of it is real but for the time and the way to the database, which is PGlite in this thread. Each statement is one step.
 * A transaction has the database to itself from its begin to its end, so that processes interleave between transactions and
 * between statements outside of them: what row locks do is not in here.
 *
 * @example
 * ```ts
 * await simulate({
 *   seed: 42,
 *   during: '3 days',
 *   define(escapement, host) {
 *     escapement.job('report', { handler: ({ signal }) => host.work('20 seconds', signal) })
 *   },
 *   arrange: (escapement) =>
 *     escapement.schedules.put('hourly', { job: 'report', timing: cron('0 * * * *') }),
 * })
 * ```
 */
export async function simulate(options: SimulationOptions): Promise<SimulationReport> {
  const read = readSimulation(options)
  const engine = await openEngineHere()
  try {
    return await play(engine, read, options)
  } finally {
    await engine.close()
  }
}

/** The same on an engine that is the caller's, in which there is nothing but, at most, our schema. */
export function simulateOn(engine: EngineHere, options: SimulationOptions): Promise<SimulationReport> {
  return play(engine, readSimulation(options), options)
}

async function play(
  engine: EngineHere,
  { duringMs, ...parts }: SimulationParts & { duringMs: number },
  { arrange = () => {}, check = () => {} }: SimulationOptions,
): Promise<SimulationReport> {
  const simulation = await Simulation.create(engine, parts)
  await arrange(simulation.observer.escapement)
  await simulation.begin()
  await simulation.pass(duringMs)
  await simulation.heal()
  const { chronicle, time, witness, counts, observer } = simulation
  const { escapement } = observer
  const { problems, ...checked } = await checkAll(observer, witness, time.now)
  if (problems.length > 0) simulation.fail(problems)
  const report = {
    seed: parts.seed,
    steps: chronicle.steps,
    trace: chronicle.trace(),
    endedAt: new Date(time.now),
    ...checked,
    executions: witness.executions.length,
    happened: counts,
  }
  try {
    await check({ escapement, executions: witness.executions, report })
  } catch (error) {
    simulation.fail([`check: ${error instanceof Error ? error.message : String(error)}`], error)
  }
  return report
}

function readSimulation(options: SimulationOptions): SimulationParts & { duringMs: number } {
  const {
    seed,
    during,
    define,
    at = SIMULATION_DEFAULTS.at,
    processes = SIMULATION_DEFAULTS.processes,
  } = options
  const faults = readFaults(options.faults)
  return readOrThrow('option_invalid', (report) => {
    if (!Number.isSafeInteger(seed)) report('seed', `${quote(seed)} – must be a whole number`)
    if (!Number.isInteger(processes) || processes < 1 || processes > 100) {
      report('processes', `${quote(processes)} – must be a whole number from 1 to 100`)
    }
    if (typeof define !== 'function') report('define', `${quote(define)} – must be a function`)
    const { every = SIMULATED_VERBS_DEFAULTS.every, act } = options.verbs || {}
    const everyMs = readElapsed(every, 'verbs.every', report) ?? 0
    if (everyMs <= 0) report('verbs.every', `${quote(every)} – must be longer than nothing`)
    return {
      seed,
      processes,
      define,
      faults,
      at: readInstant(at, 'at', report) ?? 0,
      duringMs: readElapsed(during, 'during', report) ?? 0,
      verbs: options.verbs === false ? null : { everyMs, act: act ?? randomVerbs({ milliseconds: everyMs }) },
      options: options.options ?? {},
    }
  })
}
