/** The ways to break things. When one has come to its end, everything that it broke is whole again. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Node } from './node.js'
import { POINTS } from './points.js'
import type { Random } from './random.js'
import type { World } from './world.js'

interface Blow {
  world: World
  node: Node
  random: Random
  /** A second copy of the library, for deploys. */
  otherDist: string
}

/** Does its worst, and mends it; what it returns goes into the history. Null where it came to nothing. */
type Fault = (blow: Blow) => Promise<unknown>

/** What it told of itself, of which a text is the detail. */
export type Told = string | AtAPoint | null | undefined

interface AtAPoint {
  point: string
  detail: string
}

const S = 1000
const DISK_FULL = 'disk full'
const PGBOUNCER = /PgBouncer/
export const KILL = 'kill a process'
export const KILL_AT_A_POINT = 'kill at a chosen point'
/** Those of which no two may be at work at once. */
export const RESTARTS = ['restart PostgreSQL, fast', 'restart PostgreSQL, immediate', 'kill the postmaster']

export const FAULTS: Readonly<Record<string, Fault>> = {
  [KILL]: ({ node }) => node.kill(),
  'kill all processes': async ({ world }) => void (await Promise.all(world.nodes.map((node) => node.kill()))),
  async 'freeze a process'({ node, random }) {
    // Shorter than a lease, or so much longer that its runs have just begun again elsewhere.
    const ms = random.chance(0.3) ? random.between(1 * S, 4 * S) : random.between(5 * S, 8 * S)
    node.signal('SIGSTOP')
    await sleep(ms)
    node.signal('SIGCONT')
    return `${ms} ms`
  },
  async [KILL_AT_A_POINT](blow) {
    return atAPoint(blow, ({ node }) => node.signal('SIGKILL'))
  },
  async 'freeze at a chosen point'(blow) {
    const { node, random } = blow
    const ms = random.between(5 * S, 8 * S)
    const told = await atAPoint(blow, () => node.signal('SIGSTOP'))
    if (told !== null) await sleep(ms)
    node.signal('SIGCONT')
    return told
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
  async 'kill PgBouncer'({ world, random }) {
    await world.bouncer!.kill()
    await sleep(random.between(0, 3 * S))
    await world.bouncer!.start()
  },
  async 'PgBouncer pauses and reconnects'({ world, random }) {
    const { command } = world.bouncer!
    try {
      // Waits for all transactions, and holds back the next ones.
      await command('pause')
      await sleep(random.between(0, 4 * S))
      await command('reconnect')
    } finally {
      // One that was killed meanwhile is not paused any more.
      await command('resume').catch(() => {})
    }
  },
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
  async 'pool exhausted'({ node, random }) {
    const ms = random.between(2 * S, 5 * S)
    node.exhaustPool(ms)
    await sleep(ms + S)
    return `${ms} ms`
  },
  async 'notifications lost'({ world, random }) {
    const ms = random.between(3 * S, 8 * S)
    for (const { proxy } of world.nodes) proxy.deafen()
    await sleep(ms)
    for (const { proxy } of world.nodes) proxy.undeafen()
    return `${ms} ms`
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

/** By a part of their names. */
export const faultsWith = (part: string) => Object.keys(FAULTS).filter((name) => name.includes(part))

/** What this world does not have the means for, and why: listed, so that nobody takes it for done. */
export function notRun({ disk, bouncer }: Pick<World, 'disk' | 'bouncer'>): Map<string, string> {
  const list = new Map<string, string>()
  if (disk === null) list.set(DISK_FULL, 'needs root, a tmpfs that can be mounted, and --small-disk')
  if (bouncer === null) {
    for (const kind of Object.keys(FAULTS).filter((name) => PGBOUNCER.test(name)))
      list.set(kind, 'needs pgbouncer, a package of the system; no process is behind it')
  }
  return list
}

/** How long it may take until a process sends what it is waited for. */
const POINT_WITHIN_MS = 4_000

/** Does it at the instant at which the process sends a chosen statement, which arrives or does not. Null where it sent none. */
async function atAPoint(blow: Blow, act: (blow: Blow) => void): Promise<AtAPoint | null> {
  const { node, random } = blow
  const point = random.pick(Object.keys(POINTS))
  const fate = random.chance(0.5) ? 'pass' : 'lose'
  let isOver = false
  let isDone = false
  const sprung = node.proxy.atStatement(POINTS[point]!, () => {
    if (isOver) return 'pass'
    isDone = true
    act(blow)
    return fate
  })
  await Promise.race([sprung, sleep(POINT_WITHIN_MS)])
  isOver = true
  return isDone ? { point, detail: fate === 'pass' ? 'which arrived' : 'which was lost' } : null
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
