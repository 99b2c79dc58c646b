/** One whole run: a world, its users, its nemesis, and in the end the checks. */
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type * as Library from 'escapement'
import { createCast, createCrowd } from './cast.js'
import type { Finding, Report } from './checks/finding.js'
import { startDriver } from './driver.js'
import { passDstDays } from './dst-days.js'
import { type Entry, type FaultEntry, openJournal } from './history.js'
import { judge, type OrdealReport } from './judging.js'
import { startNemesis } from './nemesis.js'
import { untilSettled } from './settling.js'
import { startWatch } from './watch.js'
import { createWorld, type World } from './world.js'

export interface OrdealSettings {
  /** From the first start of a process to the end of the last fault; some calm follows, in which nothing may be late. */
  seconds: number
  seed: number
  nodes: number
  dist: string
  /** What is deployed in between. */
  otherDist: string
  folder: string
  hasSmallDisk: boolean
  /** How many times as long as on a machine of its own everything may take. */
  patience: number
  /** The kinds of faults; an empty list leaves everything whole. */
  kinds: readonly string[]
  /** How many SIGKILLs of processes and restarts of PostgreSQL there are at least; 0 leaves it to chance. */
  kills: number
  restarts: number
  onProgress(line: string): void
}

/** After the last fault, while users go on: until processes are back and backlogs are gone, and then without any notification. */
const HEALING_MS = 10_000
const DEAF_MS = 8_000

/** How long one that is told to stop may take for what it has begun. */
const STOP_MS = 20_000

export async function runOrdeal(settings: OrdealSettings): Promise<OrdealReport> {
  const { seconds, seed, folder, onProgress, kinds, patience } = settings
  const until = performance.now() + seconds * 1000
  const world = await createWorld(settings)
  const history = openJournal<Entry>(path.join(folder, 'history.jsonl'))
  const findings: Finding[] = []
  const report: Report = (kind, about, message) => void findings.push({ kind, about, message })
  const library: typeof Library = await import(pathToFileURL(path.join(settings.dist, 'index.js')).href)
  const cast = createCast()
  const crowd = createCrowd()
  const everybody = [...cast, ...crowd]
  try {
    await untilReady(world, patience)
    const escapement = await library.createEscapement({ database: world.userProxy.url, migrate: false })
    const watch = startWatch(world, path.join(folder, 'watch.jsonl'))
    const driver = startDriver({ escapement, library, history, seed, verbsPerSecond: 20 }, { cast, crowd })
    let isHealed = false
    const days = passDstDays(world, { dist: settings.dist, seed, isHealed: () => isHealed }, report)
    // Heard when it is waited for, which is later.
    days.catch(() => {})
    await sleep(2_000)
    let struck = 0
    const nemesis =
      kinds.length === 0
        ? null
        : startNemesis({
            world,
            history,
            seed,
            until,
            otherDist: settings.otherDist,
            kinds,
            kills: settings.kills,
            restarts: settings.restarts,
            peaceMs: 1_500,
            onFault(kind) {
              struck += 1
              onProgress(`fault ${struck}: ${kind}`)
            },
          })
    while (performance.now() < until) {
      await sleep(Math.min(10_000, Math.max(0, until - performance.now())))
      onProgress(`${Math.max(0, Math.round((until - performance.now()) / 1000))} s left`)
    }
    onProgress('healing')
    await nemesis?.stop()
    for (const proxy of [world.userProxy, ...world.nodes.map((node) => node.proxy)]) proxy.heal()
    isHealed = true
    await sleep(HEALING_MS)
    // Notifications are hints: from here on nobody hears of anything, and nothing may be late for that.
    for (const { proxy } of world.nodes) proxy.deafen()
    await sleep(DEAF_MS)
    await driver.stop()
    await days
    const horizon = Date.now()
    // What is planned up to here has its time to come to rest.
    await sleep(1_000)
    const settledMs = await untilSettled(world, { horizon, patience }, report)
    await watch.stop()
    onProgress('checking')
    await checkAudit(escapement, report)
    await escapement.close()
    onProgress('stopping')
    const stopping = world.nodes.map(async (node) => {
      const code = await node.stop(STOP_MS * patience)
      if (code !== 0) report('stop', node.name, `did not stop in peace: ${code ?? 'still there'}`)
    })
    await Promise.all(stopping)
    for (const { name, crashes } of world.nodes) {
      for (const crash of crashes) report('crash', name, crash)
    }
    const faults = history.entries.filter((entry): entry is FaultEntry => entry.type === 'fault')
    const evidence = { world, cast: everybody, entries: history.entries, horizon, patience, seed }
    const judged = await judge({ ...evidence, recoveries: watch.recoveries(faults) }, report)
    return { ...judged, settledMs, findings }
  } finally {
    history.close()
    await world.close()
  }
}

async function untilReady(world: World, patience: number): Promise<void> {
  const until = Date.now() + 60_000 * patience
  for (;;) {
    const [row] = await world
      .query<{ count: number }>('select count(*)::int as count from escapement.workers')
      .catch(() => [{ count: 0 }])
    if (row!.count >= world.nodes.length) return
    if (Date.now() > until) throw new Error(`The processes did not start: see node-*.log in ${world.folder}`)
    await sleep(200)
  }
}

async function checkAudit(escapement: Library.Escapement, report: Report): Promise<void> {
  const { missing, double, unexpected } = await escapement.audit()
  for (const [what, found] of Object.entries({ missing, double, unexpected })) {
    for (const { schedule, scope, planTime, detail } of found)
      report('audit', `${schedule} ${scope} ${planTime}`, `audit says ${what}: ${detail}`)
  }
  for (const name of await escapement.reconcile()) report('audit', name, 'had a cursor that had to be mended')
}
