/**
 * Seeds of a small system with heavy faults. SIMULATION_SEEDS lengthens it, over SIMULATION_PROCESSES (as many as there are cores);
 * SIMULATION_FIRST says where to begin, and `node --import jiti/register test/simulation/seeds.ts 42 43` replays one. And days of mostly
 * daily schedules: SIMULATION_DAYS.
 */
import os from 'node:os'
import v8 from 'node:v8'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { every } from '../../src/index.js'
import { type EngineHere, openEngineHere } from '../../src/store/pglite-here.js'
import {
  SimulationFailure,
  type SimulationOptions,
  type SimulationReport,
  simulate,
} from '../../src/testing/index.js'
import { simulateOn } from '../../src/testing/simulate.js'
import { emptyDatabase } from '../support/empty-database.js'
import * as mutants from './mutants.js'
import { playSeeds } from './seed-processes.js'
import { smallSystem } from './small-system.js'
import { calmDays } from './year.js'

/** As many as are played here; more are played in processes of their own. */
const FEW = 4
const SEEDS = Number(process.env.SIMULATION_SEEDS ?? FEW)
const FIRST = Number(process.env.SIMULATION_FIRST ?? 1)
const PROCESSES = Number(process.env.SIMULATION_PROCESSES ?? os.availableParallelism())
/** Many times what one takes. */
const LONGEST_SEED_MS = 10_000
const DAYS = Number(process.env.SIMULATION_DAYS ?? 1)
const SCHEDULES = DAYS > 1 ? 200 : 10

// The engine is compiled well only where it has much to do: that takes longer than a few seeds.
if (DAYS === 1) v8.setFlagsFromString('--liftoff-only')

let engine: EngineHere
/** Of the first seed on an engine that nobody has used yet. */
let fresh: SimulationReport

beforeAll(async () => {
  engine = await openEngineHere(await (await emptyDatabase()).arrayBuffer())
  fresh = await play(FIRST)
})
afterAll(() => engine.close())

async function play(seed: number, on = engine) {
  await on.empty()
  return simulateOn(on, smallSystem(seed))
}

/** In 2026. */
const MINUTE = Date.parse('2026-01-01T00:01:00Z')

/** Nothing goes wrong, and it ends ten seconds after the schedule has come due for the first time. */
async function playMinute(options: Pick<SimulationOptions, 'define' | 'verbs' | 'check'>) {
  await engine.empty()
  return simulateOn(engine, {
    seed: 1,
    at: MINUTE - 60_000,
    during: '70 seconds',
    processes: 1,
    faults: false,
    verbs: false,
    async arrange({ schedules }) {
      const endAt = new Date(MINUTE + 1_000).toISOString()
      await schedules.put('each', { job: 'minutely', timing: every('1 minute'), scopes: ['a', 'b'], endAt })
    },
    ...options,
  })
}

/** The first seed that fails, and how. Where to begin is for the sake of time: one comes soon, wherever that is. */
async function firstFailure(mutant: EngineHere, from: number): Promise<SimulationFailure | undefined> {
  for (let seed = from; seed < from + 300; seed++) {
    const failure = await play(seed, mutant).then(
      () => undefined,
      (error) => error,
    )
    if (failure) return failure
  }
  return undefined
}

describe('a simulation', () => {
  it(`finds nothing wrong in ${SEEDS} seeds`, { timeout: 60_000 + SEEDS * LONGEST_SEED_MS }, async () => {
    const elsewhere =
      SEEDS > FEW ? await playSeeds({ first: FIRST, count: SEEDS, processes: PROCESSES }) : undefined
    const sums: Record<string, number> = { ...fresh.happened }
    expect(elsewhere?.get(FIRST) ?? fresh.trace).toBe(fresh.trace)
    for (let seed = FIRST + 1; seed < FIRST + Math.min(SEEDS, FEW); seed++) {
      const { happened, trace } = await play(seed)
      expect(elsewhere?.get(seed) ?? trace).toBe(trace)
      expect(trace).not.toBe(fresh.trace)
      for (const [what, count] of Object.entries(happened)) sums[what] = (sums[what] ?? 0) + count
    }
    expect(elsewhere?.size ?? SEEDS).toBe(SEEDS)
    // Each kind of fault has befallen, and verbs were asked for.
    expect(Object.entries(sums).filter(([, count]) => count === 0)).toEqual([])
  })

  it('goes the same way again, on an engine that is new or used', async () => {
    expect(await play(FIRST)).toEqual(fresh)
  })

  it('lets a transaction end by itself when all heals', async () => {
    const { executions } = await playMinute({
      define(escapement, host) {
        escapement.job('minutely', {
          transactional: true,
          retry: { attempts: 1 },
          async handler({ tx }) {
            await tx.query('create table left_behind ()')
            await host.work('20 seconds')
            throw new Error('rather not')
          },
        })
      },
      async check({ escapement }) {
        const left = await escapement.database.query(`select from pg_class where relname = 'left_behind'`)
        expect(left).toEqual([])
      },
    })
    expect(executions).toBe(4)
  })

  it('lets a verb end before all heals', async () => {
    const { executions, happened } = await playMinute({
      // Begun before the end, and what it asks for comes after it, while one of two runs waits for the other.
      verbs: {
        every: '25 seconds',
        async act({ claiming }, host) {
          await host.work({ milliseconds: MINUTE + 15_000 - host.now().getTime() })
          await claiming.pause({ reason: 'late' })
          return 'pauses claiming'
        },
      },
      define(escapement, host) {
        escapement.job('minutely', { concurrency: 1, handler: () => host.work('20 seconds') })
      },
    })
    expect(happened.verb).toBeGreaterThan(0)
    expect(executions).toBe(4)
  })

  it('a process that has nothing to do asks for less than a statement a second', async () => {
    await engine.empty()
    const idle = { seed: 1, processes: 1, faults: false, verbs: false, define: () => {} } as const
    const stepsIn = async (minutes: number) =>
      (await simulateOn(engine, { ...idle, during: { minutes } })).steps
    const beginning = await stepsIn(10)
    await engine.empty()
    expect((await stepsIn(20)) - beginning).toBeLessThan(600)
  })

  it(`plays ${DAYS} day(s) of ${SCHEDULES} schedules`, { timeout: 7_200_000 }, async () => {
    await engine.empty()
    const report = await simulateOn(engine, calmDays({ days: DAYS, schedules: SCHEDULES }))
    expect(report.schedules).toBe(SCHEDULES)
    // Each has one a day, and some have more; days on which a clock changes may have one less at the ends.
    expect(report.occurrences).toBeGreaterThanOrEqual((DAYS - 1) * SCHEDULES)
    expect(report.runs).toBe(report.occurrences)
    if (DAYS > 1) console.log(JSON.stringify(report))
  })

  it('tells the seed, the step and what happened last, and fails there again', async () => {
    const failing = async () => {
      await engine.empty()
      const check = () => {
        throw new Error('seven is missing')
      }
      return simulateOn(engine, { ...smallSystem(7), during: '2 minutes', check }).catch((error) => error)
    }
    const failure = await failing()
    expect(failure).toBeInstanceOf(SimulationFailure)
    expect(failure.message).toMatch(
      /^Seed 7 fails at step \d+:\n {2}check: seven is missing\nWhat happened last:/,
    )
    expect(failure.message).toContain('simulate({ seed: 7, … })')
    expect(failure.events.length).toBeGreaterThan(10)
    expect((await failing()).message).toBe(failure.message)
  })

  it('refuses options that it cannot play, all at once', async () => {
    const bad = { seed: 0.5, during: 'soon', processes: 0, define: null as never, verbs: { every: '0s' } }
    const error = await simulate(bad).catch((refused) => refused)
    for (const field of ['seed', 'during', 'processes', 'define', 'verbs.every']) {
      expect(error.message).toContain(`${field}: `)
    }
    await expect(simulate({ ...smallSystem(1), faults: { crash: 2 } })).rejects.toThrow(
      'faults.crash: 2 – must be',
    )
    await expect(simulate({ ...smallSystem(1), faults: { crush: 0 } as never })).rejects.toThrow('crash')
  })
})

describe('a simulation of a mutant', () => {
  it.each([
    ['cursors that move before the runs are inserted', mutants.cursorFirst, 75, /audit: missing/],
    ['outcomes that no lease fences', mutants.withoutFence, 44, /unwitnessed: run .* succeeded/],
    [
      'failures that no lease fences',
      mutants.withoutFenceOfFailures,
      144,
      /unwitnessed: attempt .* its lease was/,
    ],
    ['chains that die', mutants.deadChains, 3, /dead: the cursor of chain/],
    [
      'chains that do not keep their distance',
      mutants.hastyChains,
      24,
      /near: run .* less than 2 minutes after/,
    ],
    [
      'runs of one lane that work at once',
      mutants.withoutLanes,
      5,
      /beyond: more than 1 at once of the lane/,
    ],
    ['runs that nobody lets into their lane', mutants.strandedLanes, 1, /stuck: .* in lane 1/],
    [
      'more runs of a job than its limit',
      mutants.withoutLimits,
      1,
      /beyond: more than 2 at once of the job slow/,
    ],
    [
      'a second try of what is to be tried once',
      mutants.triedAgain,
      4,
      /repeated: .* tried once, began again/,
    ],
    ['attempts with one number', mutants.numberedAgain, 1, /repeated: attempt 1 of run .* began twice/],
    [
      'runs that are cancelled by nobody',
      mutants.cancelledByNobody,
      4,
      /unwitnessed: .* nobody had asked for it/,
    ],
    ['a schedule that does not break', mutants.unbroken, 4, /check: breaker/],
    ['transitions without their row in the log', mutants.withoutLog, 1, /check: transitions/],
  ] as const)('finds %s', async (_, mutant, from, seen) => {
    const failure = await firstFailure(mutant(engine), from)
    expect(failure?.problems?.join()).toMatch(seen)
  })
})
