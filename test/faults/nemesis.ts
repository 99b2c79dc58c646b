/**
 * Breaks things, one after another and sometimes two at once, in an order that follows from the seed. Each fault is in the history with
 * its beginning and its end: when it ends, everything that it broke is whole again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Entry, Journal } from './history.js'
import { createRandom, type Random } from './random.js'
import type { Node, World } from './world.js'

interface Blow {
  world: World
  node: Node
  random: Random
  /** A second copy of the library, for deploys. */
  otherDist: string
}

/** Does its worst, and mends it; what it returns goes into the history. */
type Fault = (blow: Blow) => Promise<unknown>

const S = 1000
const DISK_FULL = 'disk full'

export const FAULTS: Readonly<Record<string, Fault>> = {
  'kill a process': ({ node }) => node.kill(),
  'kill all processes': async ({ world }) => void (await Promise.all(world.nodes.map((node) => node.kill()))),
  async 'freeze a process'({ node, random }) {
    // Shorter than a lease, or so much longer that its runs have just begun again elsewhere.
    const ms = random.chance(0.3) ? random.between(1 * S, 4 * S) : random.between(5 * S, 8 * S)
    node.signal('SIGSTOP')
    await sleep(ms)
    node.signal('SIGCONT')
    return `${ms} ms`
  },
  async 'restart PostgreSQL, fast'({ world }) {
    await world.server.stop()
    await world.bringServerBack()
  },
  async 'restart PostgreSQL, immediate'({ world, random }) {
    await world.server.stopImmediately()
    await sleep(random.between(0, 2 * S))
    await world.bringServerBack()
  },
  async 'kill the postmaster'({ world, random }) {
    await world.server.kill()
    await sleep(random.between(0, 2 * S))
    await world.bringServerBack()
  },
  async 'reset connections'({ node, world, random }) {
    const times = random.between(1, 5)
    const proxy = random.chance(0.3) ? world.userProxy : node.proxy
    for (let count = 0; count < times; count++) {
      proxy.cut()
      await sleep(random.between(50, 500))
    }
  },
  async 'black hole'({ node, world, random }) {
    const proxy = random.chance(0.2) ? world.userProxy : node.proxy
    proxy.silence()
    await sleep(random.between(2 * S, 8 * S))
    proxy.heal()
  },
  async 'slow network'({ node, random }) {
    const ms = random.pick([20, 100, 300])
    node.proxy.slow(ms)
    await sleep(random.between(2 * S, 5 * S))
    node.proxy.heal()
    return `${ms} ms each way`
  },
  'cut after COMMIT': (blow) => cutAnswers(blow, 'commit'),
  'cut before an answer': (blow) => cutAnswers(blow, 'any'),
  async 'step a clock'({ node, random }) {
    const aheadMs = random.between(-600, 600) * S
    node.stepClock(aheadMs)
    return `${aheadMs} ms`
  },
  'a stranger locks a table': (blow) =>
    holdLock(blow, `lock table escapement.${blow.random.pick(['cursors', 'runs_open', 'schedules'])}`),
  'a stranger locks rows': (blow) =>
    holdLock(
      blow,
      `select 1 from escapement.${blow.random.pick(['cursors', 'runs_open', 'schedules'])} limit 20 for update`,
    ),
  async 'no connections left'({ world, random }) {
    const eaten: pg.Client[] = []
    const until = Date.now() + random.between(2 * S, 5 * S)
    while (Date.now() < until) {
      const client = new pg.Client({ connectionString: world.server.url, connectionTimeoutMillis: 1_000 })
      client.on('error', () => {})
      try {
        await client.connect()
        eaten.push(client)
      } catch {
        await sleep(100)
      }
    }
    for (const client of eaten) await client.end().catch(() => {})
    return `${eaten.length} eaten`
  },
  async [DISK_FULL]({ world, random }) {
    world.disk!.fill()
    await sleep(random.between(1 * S, 4 * S))
    world.disk!.free()
    // It may have given up, and is then started again, as whoever looks after it would.
    const answers = await world.query('select 1').then(
      () => true,
      () => false,
    )
    if (!answers) await world.bringServerBack()
    return answers ? 'PostgreSQL went on' : 'PostgreSQL had given up'
  },
  async deploy({ world, node, otherDist }) {
    const isOther = node.dist === otherDist
    const next = isOther ? world.nodes.find(({ dist }) => dist !== otherDist)?.dist : otherDist
    node.dist = next ?? node.dist
    const { starts } = node
    node.signal('SIGTERM')
    for (let waited = 0; node.starts === starts && waited < 10 * S; waited += 100) await sleep(100)
    if (node.starts === starts) await node.kill()
  },
}

/** What this run does not do, and why: listed, so that nobody takes it for done. */
export function notRun({ disk }: Pick<World, 'disk'>): Map<string, string> {
  const list = new Map([['PgBouncer in transaction mode', 'no part of it yet']])
  if (disk === null) list.set(DISK_FULL, 'needs root, a tmpfs that can be mounted, and --small-disk')
  return list
}

async function cutAnswers({ node, world, random }: Blow, of: 'commit' | 'any'): Promise<string> {
  const proxy = random.chance(0.5) ? world.userProxy : node.proxy
  const times = random.between(1, 6)
  let sprung = 0
  for (let count = 0; count < times; count++) {
    const isSprung = await Promise.race([
      proxy.cutAnswer(of).then(() => true),
      sleep(random.between(500, 1_500), false),
    ])
    if (isSprung) sprung += 1
  }
  proxy.heal()
  return `${sprung} answers lost`
}

async function holdLock({ world, random }: Blow, text: string): Promise<string> {
  const client = new pg.Client({ connectionString: world.server.url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  const ms = random.between(1 * S, 5 * S)
  try {
    await client.connect()
    await client.query('begin')
    await client.query({ text, query_timeout: 5 * S } as pg.QueryConfig)
    await sleep(ms)
    await client.query('rollback')
  } catch (error) {
    return `${text}: ${(error as Error).message}`
  } finally {
    // Whatever became of it: a lock that outlived its fault would be one of the next fault's time.
    await client.end().catch(() => {})
  }
  return `${text}, ${ms} ms`
}

/** Each kind once, and then those that are cheap more often than the others. */
const OFTEN: Readonly<Record<string, number>> = {
  'kill a process': 6,
  'cut after COMMIT': 2,
  'freeze a process': 2,
}

export interface Nemesis {
  /** Lets the fault that is under way end. */
  stop(): Promise<void>
}

export interface NemesisSettings {
  world: World
  history: Journal<Entry>
  seed: number
  otherDist: string
  kinds: readonly string[]
  /** Milliseconds of peace between two, at most. */
  peaceMs: number
  onFault(kind: string): void
}

export function startNemesis(settings: NemesisSettings): Nemesis {
  const { world, history, seed, otherDist, peaceMs, onFault } = settings
  const kinds = settings.kinds.filter((kind) => kind !== DISK_FULL || world.disk !== null)
  const random = createRandom(seed, 'nemesis')
  let isStopping = false
  let number = 0
  const underWay = new Set<Promise<void>>()

  async function strike(kind: string): Promise<void> {
    const node = random.pick(world.nodes)
    const own = createRandom(seed, `fault ${number}`)
    const entry = { type: 'fault' as const, number: number++, kind, target: node.name, t0: Date.now() }
    onFault(kind)
    const detail = await FAULTS[kind]!({ world, node, random: own, otherDist }).catch(
      (error) => `failed: ${(error as Error).message}`,
    )
    history.write({ ...entry, t1: Date.now(), ...(typeof detail === 'string' && { detail }) })
  }

  async function run(): Promise<void> {
    let bag = random.shuffled(kinds)
    while (!isStopping) {
      if (bag.length === 0) {
        bag = random.shuffled(kinds.flatMap((kind) => Array.from({ length: OFTEN[kind] ?? 1 }, () => kind)))
      }
      const kind = bag.pop()!
      const isTogether = random.chance(0.25) && !/PostgreSQL|postmaster|disk/.test(kind)
      const pause = random.between(0, peaceMs)
      // Two restarts of one server at a time would stand in each other's way.
      const blow = strike(kind).finally(() => underWay.delete(blow))
      underWay.add(blow)
      if (!isTogether) await Promise.all(underWay)
      await sleep(pause)
    }
    await Promise.all(underWay)
  }

  const running = run()
  return {
    async stop() {
      isStopping = true
      await running
    },
  }
}
