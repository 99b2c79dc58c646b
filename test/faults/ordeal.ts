/** One whole run: a world, its users, its nemesis, and in the end the checks. */
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type * as Library from 'escapement'
import { createCast, createCrowd } from './cast.js'
import type { Finding, Report } from './checks/finding.js'
import { groupBy } from './checks/grouping.js'
import { readLedger } from './checks/ledger.js'
import { checkOccurrences, type OccurrenceCounts } from './checks/occurrences.js'
import {
  checkAskedRuns,
  checkBreakers,
  checkChains,
  checkCounter,
  checkTransitions,
} from './checks/promises.js'
import { checkPooled, checkWitnesses, readWitnesses, type WitnessCounts } from './checks/witnesses.js'
import { startDriver } from './driver.js'
import { passDstDays } from './dst-days.js'
import { notRun } from './faults.js'
import { type Entry, type FaultEntry, openJournal } from './history.js'
import { startNemesis } from './nemesis.js'
import { expectedOf } from './oracle.js'
import { untilSettled } from './settling.js'
import { startWatch } from './watch.js'
import { createWorld, type World } from './world.js'

export interface OrdealSettings {
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

export interface OrdealReport {
  faults: Map<string, number>
  /** What processes had just sent when they were killed or frozen at a chosen point. */
  points: Map<string, number>
  /** Kinds that could not be, with the reason. */
  notRun: Map<string, string>
  verbs: Map<string, Record<'ok' | 'refused' | 'unknown', number>>
  counts: Counts
  /** Processes behind PgBouncer that came to work, and what was begun by them. */
  pooled: { starts: number; executions: number }
  occurrences: OccurrenceCounts
  /** Those of the days on which the clock is moved. */
  dstOccurrences: number
  witnesses: WitnessCounts
  chained: number
  counted: number
  transitions: number
  /** Milliseconds; of the fault that took longest. */
  longestRecovery: { ms: number; kind: string }
  settledMs: number
  findings: Finding[]
}

interface Counts {
  /** Processes of the system. */
  starts: number
  /** SIGKILLs of those that were at work, and of those that were only starting. */
  kills: number
  earlyKills: number
  /** PostgreSQL, stopped or killed, and started again. */
  restarts: number
}

/** How late a run may be made when nothing is broken, and nothing was a moment ago. */
const LATE_MS = 10_000
/** How long a recovery may take at most: two leases, and the longest sleeps and backoffs of all loops. */
const RECOVERY_MS = 45_000
/** How long one that is told to stop may take for what it has begun. */
const STOP_MS = 20_000

export async function runOrdeal(settings: OrdealSettings): Promise<OrdealReport> {
  const { seconds, seed, folder, onProgress, kinds, patience } = settings
  const world = await createWorld(settings)
  const history = openJournal<Entry>(path.join(folder, 'history.jsonl'))
  const findings: Finding[] = []
  const report: Report = (kind, about, message) => void findings.push({ kind, about, message })
  const library: typeof Library = await import(pathToFileURL(path.join(settings.dist, 'index.js')).href)
  const cast = createCast()
  const crowd = createCrowd()
  try {
    await untilReady(world, patience)
    const escapement = await library.createEscapement({ database: world.userProxy.url, migrate: false })
    const watch = startWatch(world, path.join(folder, 'watch.jsonl'))
    const driver = startDriver({ escapement, library, history, seed, verbsPerSecond: 20 }, { cast, crowd })
    const days = passDstDays(world, settings.dist, seed, report)
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
            seconds,
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
    const until = performance.now() + seconds * 1000
    while (performance.now() < until) {
      await sleep(Math.min(10_000, Math.max(0, until - performance.now())))
      onProgress(`${Math.max(0, Math.round((until - performance.now()) / 1000))} s left`)
    }
    onProgress('healing')
    await nemesis?.stop()
    for (const proxy of [world.userProxy, ...world.nodes.map((node) => node.proxy)]) proxy.heal()
    await driver.stop()
    const dstOccurrences = await days
    const horizon = Date.now()
    // What is planned up to here has its time to come to rest.
    await sleep(1_000)
    const settledMs = await untilSettled(world, { horizon, patience }, report)
    await watch.stop()
    onProgress('checking')
    const faults = history.entries.filter((entry): entry is FaultEntry => entry.type === 'fault')
    const recoveries = watch.recoveries(faults)
    for (const { fault, ms } of recoveries) {
      if (ms === null || ms > RECOVERY_MS * patience)
        report(
          'stuck',
          `fault ${fault.number}`,
          `${fault.kind}: overdue for ${ms ?? 'ever'} ms after its end`,
        )
    }
    const counts = countsOf(world)
    await checkAudit(escapement, report)
    await escapement.close()
    onProgress('stopping')
    const stopping = world.nodes.map(async (node) => {
      const code = await node.stop(STOP_MS * patience)
      if (code !== 0) report('stop', node.name, `did not stop in peace: ${code ?? 'still there'}`)
    })
    await Promise.all(stopping)
    const ledger = await readLedger(world)
    const asked = history.entries.filter((entry) => entry.type !== 'fault')
    const askedOf = groupBy(asked, ({ name }) => name)
    const expected = [...cast, ...crowd].map((role) =>
      expectedOf(role, askedOf.get(role.name) ?? [], horizon),
    )
    const occurrences = checkOccurrences(
      expected,
      ledger,
      { faults, horizon, lateMs: LATE_MS * patience },
      report,
    )
    checkAskedRuns(expected, history.entries, ledger, report)
    checkBreakers(ledger, faults, report)
    const witnessed = readWitnesses(world.nodes.flatMap(({ witnesses }) => witnesses))
    const longest = recoveries.reduce(
      (most, one) => ((one.ms ?? 0) > (most?.ms ?? -1) ? one : most),
      recoveries[0],
    )
    const answer: OrdealReport = {
      faults: timesOf(faults.map(({ kind }) => kind)),
      points: timesOf(faults.flatMap(({ point }) => point ?? [])),
      notRun: notRun(world),
      verbs: verbsOf(history.entries),
      counts,
      pooled: checkPooled(witnessed, report),
      occurrences,
      dstOccurrences,
      witnesses: checkWitnesses(witnessed, ledger, report),
      chained: checkChains(cast, ledger, report),
      counted: await checkCounter(world, ledger, report),
      transitions: await checkTransitions(world, history.entries, report),
      longestRecovery: { ms: longest?.ms ?? 0, kind: longest?.fault.kind ?? 'none' },
      settledMs,
      findings,
    }
    fs.writeFileSync(
      path.join(folder, 'ledger.json'),
      JSON.stringify({ ...ledger, names: [...ledger.names] }),
    )
    return answer
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

function countsOf({ nodes, restarts }: World): Counts {
  const sum = (of: 'starts' | 'kills' | 'earlyKills') => nodes.reduce((total, node) => total + node[of], 0)
  return { starts: sum('starts'), kills: sum('kills'), earlyKills: sum('earlyKills'), restarts }
}

function timesOf(kinds: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

function verbsOf(entries: readonly Entry[]): OrdealReport['verbs'] {
  const counts: OrdealReport['verbs'] = new Map()
  for (const entry of entries) {
    if (entry.type !== 'verb' || entry.isEcho) continue
    const verb = entry.until === undefined ? entry.verb : 'pause until'
    const own = counts.get(verb) ?? { ok: 0, refused: 0, unknown: 0 }
    own[entry.answer] += 1
    counts.set(verb, own)
  }
  return counts
}
