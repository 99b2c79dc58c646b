/**
 * Seeds of a small system with heavy faults. SIMULATION_SEEDS lengthens it, over SIMULATION_PROCESSES (as many as there are cores);
 * SIMULATION_FIRST says where to begin, and `node --import jiti/register test/simulation/seeds.ts 42 43` replays one.
 */
import os from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type EngineHere, openEngineHere } from '../../src/store/pglite-here.js'
import { SimulationFailure, simulate } from '../../src/testing/index.js'
import { simulateOn } from '../../src/testing/simulate.js'
import { emptyDatabase } from '../support/empty-database.js'
import { cursorFirst, withoutFence } from './mutants.js'
import { playSeeds } from './seed-processes.js'
import { smallSystem } from './small-system.js'

/** As many as are played here; more are played in processes of their own. */
const FEW = 5
const SEEDS = Number(process.env.SIMULATION_SEEDS ?? FEW)
const FIRST = Number(process.env.SIMULATION_FIRST ?? 1)
const PROCESSES = Number(process.env.SIMULATION_PROCESSES ?? os.availableParallelism())
/** Many times what one takes. */
const LONGEST_SEED_MS = 10_000

let engine: EngineHere

const open = async () => openEngineHere(await (await emptyDatabase()).arrayBuffer())

beforeAll(async () => {
  engine = await open()
})
afterAll(() => engine.close())

async function play(seed: number, on = engine) {
  await on.empty()
  return simulateOn(on, smallSystem(seed))
}

/** The first seed that fails, and how. */
async function firstFailure(mutant: EngineHere, most: number): Promise<SimulationFailure | undefined> {
  for (let seed = 1; seed <= most; seed++) {
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
    const sums: Record<string, number> = {}
    for (let seed = FIRST; seed < FIRST + Math.min(SEEDS, FEW); seed++) {
      const { happened, trace } = await play(seed)
      expect(elsewhere?.get(seed) ?? trace).toBe(trace)
      for (const [what, count] of Object.entries(happened)) sums[what] = (sums[what] ?? 0) + count
    }
    expect(elsewhere?.size ?? SEEDS).toBe(SEEDS)
    // Each kind of fault has befallen, and verbs were asked for.
    expect(Object.entries(sums).filter(([, count]) => count === 0)).toEqual([])
  })

  it('goes the same way again, on an engine that is new or used', async () => {
    const other = await open()
    const fresh = await play(3, other)
    await other.close()
    expect(await play(3)).toEqual(fresh)
    expect((await play(4)).trace).not.toBe(fresh.trace)
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
  it('finds cursors that move before the runs are inserted', async () => {
    const failure = await firstFailure(cursorFirst(engine), 300)
    expect(failure?.problems.join()).toMatch(/audit: missing/)
  })

  it('finds outcomes that no lease fences', async () => {
    const failure = await firstFailure(withoutFence(engine), 300)
    expect(failure?.problems.join()).toMatch(/unwitnessed|check: counted/)
  })
})
