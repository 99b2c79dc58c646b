/** All checks of a run, once everything has come to rest, and what they have counted. */
import fs from 'node:fs'
import path from 'node:path'
import type { Role } from './cast.js'
import { checkCounter } from './checks/counter.js'
import type { Finding, Report } from './checks/finding.js'
import { readLedger } from './checks/ledger.js'
import { checkTransitions } from './checks/transitions.js'
import { readWitnesses } from './checks/witnesses.js'
import { checkDstDays } from './dst-days.js'
import { notRun } from './faults.js'
import type { Entry, FaultEntry } from './history.js'
import { checkRecords, type RecordCounts } from './records.js'
import type { Recovery } from './watch.js'
import type { World } from './world.js'

export interface OrdealReport extends RecordCounts {
  faults: Map<string, number>
  /** What processes had just sent when they were killed or frozen at a chosen point. */
  points: Map<string, number>
  /** Kinds that could not be, with the reason. */
  notRun: Map<string, string>
  verbs: Map<string, Record<'ok' | 'refused' | 'unknown', number>>
  counts: Counts
  /** Occurrences of the days on which the clock is moved. */
  dstOccurrences: number
  counted: number
  transitions: number
  /** Milliseconds until nothing was overdue, from the end of the last of the faults that came one upon the other. */
  longestRecovery: { ms: number; kind: string }
  /** The same from the end of the first of them. */
  longestBacklogMs: number
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

/** How long a recovery may take at most: two leases, and the longest sleeps and backoffs of all loops. */
const RECOVERY_MS = 25_000

export interface Evidence {
  world: World
  cast: readonly Role[]
  entries: readonly Entry[]
  recoveries: readonly Recovery[]
  /** Up to when plan times are judged. */
  horizon: number
  patience: number
  seed: number
}

export async function judge(
  { world, cast, entries, recoveries, horizon, patience, seed }: Evidence,
  report: Report,
): Promise<Omit<OrdealReport, 'settledMs' | 'findings'>> {
  const ledger = await readLedger(world)
  // First of all: what the checks make of it can be asked again.
  const kept = JSON.stringify({ ...ledger, names: [...ledger.names], horizon, seed })
  fs.writeFileSync(path.join(world.folder, 'ledger.json'), kept)
  const faults = entries.filter((entry): entry is FaultEntry => entry.type === 'fault')
  const witnesses = readWitnesses(world.nodes.flatMap((node) => node.witnesses))
  return {
    ...checkRecords({ cast, entries, ledger, witnesses, seed, horizon, patience }, report),
    faults: timesOf(faults.map(({ kind }) => kind)),
    points: timesOf(faults.flatMap(({ point }) => point ?? [])),
    notRun: notRun(world),
    verbs: verbsOf(entries),
    counts: countsOf(world),
    dstOccurrences: await checkDstDays(world, report),
    counted: await checkCounter(world, ledger, report),
    transitions: await checkTransitions(world, entries, report),
    longestRecovery: checkRecoveries(recoveries, patience, report),
    longestBacklogMs: recoveries.reduce((most, { ms }) => Math.max(most, ms ?? 0), 0),
  }
}

function checkRecoveries(
  recoveries: readonly Recovery[],
  patience: number,
  report: Report,
): OrdealReport['longestRecovery'] {
  let longest = { ms: 0, kind: 'none' }
  for (const { fault, inPeaceMs } of recoveries) {
    if (inPeaceMs === null || inPeaceMs > RECOVERY_MS * patience)
      report(
        'stuck',
        `fault ${fault.number}`,
        `${fault.kind}: overdue for ${inPeaceMs ?? 'ever'} ms in peace`,
      )
    if (inPeaceMs !== null && inPeaceMs > longest.ms) longest = { ms: inPeaceMs, kind: fault.kind }
  }
  return longest
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
