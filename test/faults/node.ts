import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { SHORT_LIVED } from '../support/short-lived.js'
import { type FaultProxy, openFaultProxy } from './proxy.js'

/** One place in the system: when its process dies, another takes it, with the same proxy. */
export interface Node {
  readonly name: string
  readonly proxy: FaultProxy
  /** Whether it is to be there: dead ones are brought back. */
  isWanted: boolean
  dist: string
  readonly starts: number
  /** SIGKILLs, while it was at work and while it was only starting. */
  readonly kills: number
  readonly earlyKills: number
  /** Since when it is at work, by this process's monotonic clock; null while it is not. */
  readonly readySince: number | null
  /** The files of all its processes. */
  readonly witnesses: readonly string[]
  /** Each time that it ended while it was at work, and nobody had told it to. */
  readonly crashes: readonly string[]
  signal(signal: NodeJS.Signals): void
  stepClock(aheadMs: number): void
  /** Has it hold all its connections for about so long. */
  exhaustPool(ms: number): void
  /** Ends it, and resolves when it is gone. */
  kill(): Promise<void>
  /** Asks it to stop; null where it does not within the time. */
  stop(withinMs: number): Promise<number | null>
}

export interface NodeSettings {
  index: number
  dist: string
  folder: string
  seed: number
  /** The server itself, past all proxies. */
  direct: string
  /** A pooler that is to be on its way to the server; null for none. */
  pooler: string | null
}

const program = fileURLToPath(new URL('node-process.mjs', import.meta.url))
const clock = new URL('shifted-clock.mjs', import.meta.url).href
/** Each is wrong in its own way. */
const AHEAD_MS = [600_000, -600_000, 0, 90_000]

export async function startNode({ index, dist, folder, seed, direct, pooler }: NodeSettings): Promise<Node> {
  const proxy = await openFaultProxy(pooler ?? direct)
  const log = fs.openSync(path.join(folder, `node-${index}.log`), 'a')
  const witnesses: string[] = []
  let child: ChildProcess
  let clockAheadMs = AHEAD_MS[index % AHEAD_MS.length]!
  let [kills, earlyKills] = [0, 0]
  let readySince: number | null = null
  let isDoomed = false
  let isToldToStop = false
  const crashes: string[] = []

  function launch(): void {
    const witness = path.join(folder, `witness-${index}-${witnesses.length}.jsonl`)
    witnesses.push(witness)
    const isPooled = pooler !== null
    const hasOwnPool = index % 3 === 2
    const isQuiet = index % 3 === 0
    const hasFew = index % 3 !== 1
    const files = { dist: node.dist, witness }
    const roles = { isPooled, hasOwnPool, isQuiet, hasFew }
    const facts = { ...files, database: proxy.url, direct, seed, ...roles }
    child = spawn(process.execPath, [...SHORT_LIVED, '--import', clock, program, JSON.stringify(facts)], {
      env: { ...process.env, CLOCK_AHEAD_MS: String(clockAheadMs) },
      stdio: ['ignore', log, log, 'ipc'],
    })
    readySince = null
    isDoomed = false
    isToldToStop = false
    child.on('error', () => {})
    child.once('message', () => {
      readySince = performance.now()
    })
    child.once('exit', async (code, signal) => {
      if (readySince !== null && !isDoomed && !isToldToStop)
        crashes.push(`process ${witnesses.length - 1} ended by itself: ${code ?? signal}`)
      readySince = null
      fs.writeSync(log, `-- ended: ${code ?? signal}\n`)
      // One that could not start, as the database was away, would else be started without end.
      if (signal === null) await sleep(500)
      if (node.isWanted) launch()
    })
  }

  const isGone = () => child.exitCode !== null || child.signalCode !== null
  const node: Node = {
    name: `node-${index}`,
    proxy,
    isWanted: true,
    dist,
    get starts() {
      return witnesses.length
    },
    get kills() {
      return kills
    },
    get earlyKills() {
      return earlyKills
    },
    get readySince() {
      return isDoomed ? null : readySince
    },
    witnesses,
    crashes,
    signal(signal) {
      isToldToStop ||= signal === 'SIGTERM'
      if (signal === 'SIGKILL' && !isDoomed && !isGone()) {
        isDoomed = true
        if (readySince === null) earlyKills += 1
        else kills += 1
      }
      child.kill(signal)
    },
    stepClock(aheadMs) {
      clockAheadMs = aheadMs
      if (child.connected) child.send({ clockAheadMs: aheadMs }, () => {})
    },
    exhaustPool(ms) {
      if (child.connected) child.send({ exhaustPoolMs: ms }, () => {})
    },
    async kill() {
      if (isGone()) return
      const ended = once(child, 'exit')
      node.signal('SIGKILL')
      await ended
    },
    async stop(withinMs) {
      node.isWanted = false
      if (isGone()) return child.exitCode
      const ended = once(child, 'exit').then(([code]) => code as number | null)
      node.signal('SIGTERM')
      return Promise.race([ended, sleep(withinMs, null, { ref: false })])
    },
  }
  launch()
  return node
}
