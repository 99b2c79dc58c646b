/**
 * Breaks things, one after another and sometimes two at once, in an order that follows from the seed. Each fault is in the history with
 * its beginning and its end.
 *
 * It comes in storms; between two of them is peace, in which nothing may be late. Told how many processes to kill at least, it keeps
 * one more hand for each process: that kills it again and again, at random and at chosen points, as fast as the number asks for.
 * Those hands go by the clock, and which fault is whose then hangs on time as well as on the seed.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { FAULTS, KILL, KILL_AT_A_POINT, notRun, RESTARTS, type Told } from './faults.js'
import type { Entry, Journal } from './history.js'
import type { Node } from './node.js'
import { createRandom } from './random.js'
import type { World } from './world.js'

/** Each kind once, and then those that are cheap more often than the others. */
const OFTEN: Readonly<Record<string, number>> = {
  [KILL]: 4,
  [KILL_AT_A_POINT]: 4,
  'cut after COMMIT': 2,
  'freeze a process': 2,
}

const STORM_MS = 105_000
const PEACE_MS = 45_000
/** Of the time that there is: the last of it is for those that fell behind. */
const PACE = 0.9

/** How much of so long a time is storm. */
function stormMsOf(ms: number): number {
  const cycle = STORM_MS + PEACE_MS
  return Math.floor(ms / cycle) * STORM_MS + Math.min(STORM_MS, ms % cycle)
}

export interface Nemesis {
  /** Lets the faults that are under way end. */
  stop(): Promise<void>
}

export interface NemesisSettings {
  world: World
  history: Journal<Entry>
  seed: number
  /** When it will be stopped, by this process's monotonic clock. */
  until: number
  otherDist: string
  kinds: readonly string[]
  /** How many SIGKILLs of processes and restarts of PostgreSQL there must be at least; 0 leaves it to chance. */
  kills: number
  restarts: number
  /** Milliseconds of peace between two, at most. */
  peaceMs: number
  onFault(kind: string): void
}

export function startNemesis(settings: NemesisSettings): Nemesis {
  const { world, history, seed, until, otherDist, kills, restarts, peaceMs, onFault } = settings
  const impossible = notRun(world)
  const kinds = settings.kinds.filter((kind) => !impossible.has(kind))
  const random = createRandom(seed, 'nemesis')
  const startedAt = performance.now()
  const stormMs = stormMsOf(until - startedAt)
  let isStopping = false
  let number = 0
  const underWay = new Set<Promise<void>>()

  async function strike(kind: string, node: Node): Promise<void> {
    const own = createRandom(seed, `fault ${number}`)
    const entry = { type: 'fault' as const, number: number++, kind, target: node.name, t0: Date.now() }
    onFault(kind)
    const told = (await FAULTS[kind]!({ world, node, random: own, otherDist }).catch(
      (error) => `failed: ${(error as Error).message}`,
    )) as Told
    if (told === null) return
    history.write({ ...entry, t1: Date.now(), ...(typeof told === 'string' ? { detail: told } : told) })
  }

  /** How many of so many there should have been by now. */
  const due = (count: number) =>
    Math.ceil(count * Math.min(1, stormMsOf(performance.now() - startedAt) / (stormMs * PACE)))

  async function untilStorm(): Promise<void> {
    while (!isStopping && (performance.now() - startedAt) % (STORM_MS + PEACE_MS) > STORM_MS) await sleep(200)
  }

  async function breakThings(): Promise<void> {
    let bag = random.shuffled(kinds)
    while (!isStopping && kinds.length > 0) {
      if (bag.length === 0) {
        bag = random.shuffled(kinds.flatMap((kind) => Array.from({ length: OFTEN[kind] ?? 1 }, () => kind)))
      }
      const kind = world.restarts < due(restarts) ? random.pick(RESTARTS) : bag.pop()!
      // Two restarts of one server at a time would stand in each other's way.
      const isTogether = random.chance(0.25) && !RESTARTS.includes(kind) && !/disk|PgBouncer/.test(kind)
      const pause = random.between(0, peaceMs)
      const blow = strike(kind, random.pick(world.nodes)).finally(() => underWay.delete(blow))
      underWay.add(blow)
      if (!isTogether) await Promise.all(underWay)
      await sleep(pause)
      await untilStorm()
    }
    await Promise.all(underWay)
  }

  async function keepKilling(node: Node): Promise<void> {
    const own = createRandom(seed, `reaper of ${node.name}`)
    while (!isStopping) {
      // Some die young, and some in the middle of their work.
      const life = own.between(0, MOST_LIFE_MS)
      const kind = own.pick([KILL, KILL_AT_A_POINT])
      while (!isStopping && !isRipe(node, life)) await sleep(50)
      await untilStorm()
      if (!isStopping) await strike(kind, node)
    }
  }

  const isRipe = ({ readySince }: Node, life: number) =>
    readySince !== null && performance.now() - readySince > life && killsOf(world.nodes) < due(kills)

  const running = [breakThings(), ...(kills > 0 ? world.nodes.map(keepKilling) : [])]
  return {
    async stop() {
      isStopping = true
      await Promise.all(running)
    },
  }
}

const MOST_LIFE_MS = 4_000
const killsOf = (nodes: readonly Node[]) => nodes.reduce((sum, node) => sum + node.kills, 0)
