/**
 * What the statements of every day cost in tables of full size: how they are carried out, with buffers, and how much WAL each run leaves.
 *
 *     npm run bench:statements             1,000,000 schedules, of which 100,000 are due, and 10,000,000 finished runs; writes docs/statement-plans.md
 *     npm run bench:statements -- --quick  small enough for the tests, and only prints
 *
 * PostgreSQL from npm, fsync and synchronous_commit on. Each step is taken ten times, so that sessions keep the plans that they have all
 * day; of the last one the server itself writes them down (auto_explain).
 */

import fs from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { hostChance } from '../src/chance.js'
import { createWorkerCalls, type WorkerCalls } from '../src/events/worker-calls.js'
import { silentLogger } from '../src/logger.js'
import { newUuids } from '../src/runs/uuid.js'
import { createAhead } from '../src/scheduler/ahead.js'
import { tick, type WorkerHere } from '../src/scheduler/tick.js'
import { handingChannel, readHanded } from '../src/store/queries/begun-as-enqueued.js'
import { type ClaimedRow, claimRuns } from '../src/store/queries/claiming.js'
import { insertDirectRuns } from '../src/store/queries/enqueueing.js'
import { renewLeases } from '../src/store/queries/leases.js'
import { type Outcome, recordOutcomes } from '../src/store/queries/outcomes.js'
import { listEndedPauses, msUntilWake } from '../src/store/queries/planning.js'
import { removeWorker } from '../src/store/queries/workers.js'
import type { Store } from '../src/store/store.js'
import { TIMING_KINDS } from '../src/time/timing.js'
import { ZONE_DATA } from '../src/time/zone-data.js'
import { noWorker } from '../test/support/no-worker.js'
import { startPostgres } from '../test/support/postgres-server.js'
import { registerIdleWorker } from '../test/support/workers.js'
import { folded, inEnglish, middle, walPosition } from './figures.js'
import { openScheduleTable, type ScheduleTable } from './herd.js'
import { openHistory } from './history.js'

export interface StatementsSize {
  schedules: number
  due: number
  finished: number
  /** Runs that are enqueued and claimed together. */
  batch: number
}

const FULL: StatementsSize = { schedules: 1_000_000, due: 100_000, finished: 10_000_000, batch: 1_000 }
export const QUICK: StatementsSize = { schedules: 17_000, due: 14_000, finished: 1_000, batch: 200 }

const TIMES = 10
const LOG = 'server.log'
const SETTINGS = [
  'shared_buffers=4GB',
  'max_wal_size=8GB',
  'logging_collector=on',
  `log_filename=${LOG}`,
  'shared_preload_libraries=auto_explain',
  'auto_explain.log_analyze=on',
  'auto_explain.log_buffers=on',
  'auto_explain.log_parameter_max_length=0',
]

type Step = (store: Store, size: StatementsSize, table: ScheduleTable) => Promise<number>

/** Each gives how many runs it saw through. */
const STEPS: Record<string, Step> = {
  'one direct run': async (store) => {
    await enqueue(store, 1)
    const claim = claimOf()
    const rows = await claimRuns(store, { ...claim, lots: { areWaiting: false }, limit: 10 })
    return complete(store, claim, rows)
  },
  'one direct run that begins as it is enqueued': async (store) => {
    const { database } = store
    const [workerId, restLock] = [crypto.randomUUID(), '4680000']
    await registerIdleWorker(store, workerId, null, {
      begins: { [JOB.name]: { attempts: 3, leaseMs: 30_000 } },
      restLock,
      queues: ['default'],
    })
    const letGo = await database.holdLock(restLock, () => {})
    const heard: string[] = []
    const unlisten = await database.listen(handingChannel(workerId), (payload) => void heard.push(payload))
    await enqueue(store, 1, { mayBegin: true })
    while (heard.length === 0) await sleep(1)
    const row = readHanded(heard[0]!)!
    const done = await complete(store, { leaseToken: row.id }, [row])
    await Promise.all([unlisten(), letGo!(), removeWorker(store, workerId)])
    return done
  },
  'direct runs in bulk': async (store, { batch }) => {
    await enqueue(store, batch)
    return workOff(store, batch)
  },
  'direct runs of a job with a limit': async (store, { batch }) => {
    await enqueue(store, batch)
    return workOff(store, batch, batch)
  },
  'runs of schedules': (store, { batch }) => fireDue(store, batch, false),
  'runs of schedules, in herds': (store, { batch }) => fireDue(store, batch, true),
  'runs that were planned ahead': async (store, size, table) => {
    const created = await fireAhead(store, size, table, noWorker)
    return workOff(store, created)
  },
  'runs that begin as they are planned': async (store, size, table) => {
    const claim = claimOf()
    const begun: ClaimedRow[] = []
    const offer = (places: number) => ({
      ...claim,
      places,
      job: () => claim.jobs[0],
      begin: (rows: readonly ClaimedRow[]) => void begun.push(...rows),
      giveUp() {},
    })
    await fireAhead(store, size, table, { ...noWorker, beginning: () => [JOB.name], offer })
    await renewLeases(store, held(claim, begun))
    return complete(store, claim, begun)
  },
}

/** Gives so many schedules that are due their runs, and sees them through; returns how many. */
async function fireDue(store: Store, batch: number, inHerds: boolean): Promise<number> {
  const calls = createWorkerCalls(store)
  await listEndedPauses(store, batch)
  const limits = { limit: batch, kinds: TIMING_KINDS, providers: [], inHerds }
  const { runs } = await tick(partsFor(store, calls, noWorker), limits, new Map())
  await msUntilWake(store, { kinds: TIMING_KINDS, providers: [] })
  await calls.close()
  return workOff(store, runs)
}

const partsFor = (store: Store, calls: WorkerCalls, worker: WorkerHere) => ({
  store,
  calls,
  worker,
  logger: silentLogger,
  zoneData: ZONE_DATA,
  chance: hostChance,
})

/** Gives so many schedules, planned before they are due, their runs; returns how many. */
async function fireAhead(
  store: Store,
  { batch }: StatementsSize,
  { go }: ScheduleTable,
  worker: WorkerHere,
): Promise<number> {
  const calls = createWorkerCalls(store)
  const ahead = createAhead(partsFor(store, calls, worker), { firstBatch: batch })
  go(-100)
  await ahead.look(100, batch)
  go(100)
  let created = 0
  await ahead.fire((part) => {
    created += part.created.length
  })
  await msUntilWake(store, { kinds: TIMING_KINDS, providers: [] })
  await calls.close()
  return created
}

/** A page: a table of what the steps take, and how the server carries out their statements. */
export async function benchStatements(size: StatementsSize): Promise<string> {
  const server = await startPostgres({ fsync: true, settings: SETTINGS })
  const table = await openScheduleTable(server.url)
  const history = await openHistory(server.url)
  try {
    await table.fill(size.schedules)
    await history.fill(size.finished)
    await table.makeDue(size.due)
    const { database } = table.store
    const costs = new Map<string, Cost>()
    for (const [name, step] of Object.entries(STEPS)) {
      const wal: number[] = []
      let runs = 0
      for (let time = 0; time < TIMES; time++) {
        if (time === TIMES - 1) await setLogged(table.store, true)
        await database.query(`${STEP_MARK}${name} */ select 1`)
        const before = await walPosition(database)
        runs = await step(table.store, size, table)
        wal.push(((await walPosition(database)) - before) / runs)
      }
      await setLogged(table.store, false)
      costs.set(name, { runs, walBytes: middle(wal) })
    }
    // The log is written by a process of its own.
    await sleep(500)
    const [row] = await database.query<{ text: string; version: string }>(
      `select pg_read_file('log/${LOG}') as text, current_setting('server_version') as version`,
    )
    return pageOf(size, row!.version, costs, plansIn(row!.text))
  } finally {
    await history.close()
    await table.close()
    await server.remove()
  }
}

async function setLogged({ database }: Store, isLogged: boolean): Promise<void> {
  await database.query(`alter system set auto_explain.log_min_duration = ${isLogged ? 0 : -1}`)
  await database.query('select pg_reload_conf()')
  // Sessions read it before their next statement.
  await sleep(200)
}

const DIRECT = {
  job: 'noop',
  input: JSON.stringify({ customer: 123_456, report: 'x'.repeat(100) }),
  queue: 'default',
  priority: 0,
  key: null,
  at: null,
  delayMs: 0,
  traceContext: null,
}

async function enqueue(store: Store, count: number, terms: { mayBegin?: boolean } = {}): Promise<void> {
  const ids = newUuids(store.now()!.getTime(), count)
  await insertDirectRuns(store, { channel: store.channel, ...terms }, { ids, runs: ids.map(() => DIRECT) })
}

const JOB = { name: 'noop', leaseMs: 30_000, retry: { attempts: 3 }, onStale: 'retry' } as const

function claimOf(concurrency: number | null = null) {
  return {
    workerId: crypto.randomUUID(),
    leaseToken: crypto.randomUUID(),
    queues: ['default'],
    jobs: [{ ...JOB, concurrency, concurrencyKey: null }],
    lots: { areWaiting: true },
  }
}

/** Claims so many, holds them once more and completes them. */
async function workOff(store: Store, limit: number, concurrency: number | null = null): Promise<number> {
  const claim = claimOf(concurrency)
  const rows = await claimRuns(store, { ...claim, limit })
  await renewLeases(store, held(claim, rows))
  return complete(store, claim, rows)
}

const held = ({ leaseToken }: { leaseToken: string }, rows: readonly ClaimedRow[]) =>
  rows.map(({ id, lot_id }) => ({ runId: id, lotId: lot_id, leaseToken, leaseMs: JOB.leaseMs }))

async function complete(
  store: Store,
  { leaseToken }: { leaseToken: string },
  rows: readonly ClaimedRow[],
): Promise<number> {
  const outcomes = rows.map((row): Outcome => {
    const of = row.schedule_id && {
      scheduleId: row.schedule_id,
      trigger: row.trigger,
      planTime: row.plan_time,
      isLaned: false,
      hasBreaker: row.has_breaker,
    }
    const { id, lot_id } = row
    const about = { runId: id, lotId: lot_id, leaseToken, of: of || null, totals: null }
    return { ...about, state: 'succeeded', result: 'null' }
  })
  const { counted } = await recordOutcomes(store, outcomes, [])
  if (counted.length === 0 || counted.includes(false)) throw new Error('an outcome was refused')
  return counted.length
}

interface Cost {
  runs: number
  walBytes: number
}

interface Plan {
  step: string
  purpose: string
  ms: number
  lines: readonly string[]
}

function pageOf(
  { schedules, due, finished }: StatementsSize,
  version: string,
  costs: ReadonlyMap<string, Cost>,
  plans: readonly Plan[],
): string {
  const ofStep = (name: string) => plans.filter(({ step }) => step === name)
  const row = ([name, { runs, walBytes }]: [string, Cost]) => {
    const ms = ofStep(name).reduce((sum, plan) => sum + plan.ms, 0)
    const purposes = ofStep(name).map(({ purpose }) => purpose)
    return `| ${name} | ${inEnglish(runs)} | ${purposes.join(', ')} | ${inEnglish((1000 * ms) / runs)} | ${inEnglish(walBytes)} |`
  }
  return [
    HEAD(version, [schedules, due, finished]),
    '',
    '| | runs | statements | µs of the server for each run | bytes of WAL for each run |',
    '| --- | --- | --- | --- | --- |',
    ...[...costs].map(row),
    ...[...costs.keys()].flatMap((name) => [
      '',
      `## ${name[0]!.toUpperCase()}${name.slice(1)}`,
      ...ofStep(name).flatMap(({ purpose, ms, lines }) => folded(`${purpose}, ${ms} ms`, lines)),
    ]),
    '',
  ].join('\n')
}

const HEAD = (
  version: string,
  [schedules, due, finished]: readonly number[],
) => `# Plans of the statements of every day

Written by \`npm run bench:statements\` on ${new Date().toISOString().slice(0, 10)} with PostgreSQL ${version}, ${inEnglish(schedules!)} schedules of which ${inEnglish(due!)}
are due, and ${inEnglish(finished!)} finished runs. Each step is a sequence of statements, each of them one round trip, from asking for runs, or planning them, to their recorded
outcomes. The server wrote the plans down itself, with the times that measuring each node adds. How fast it all is stands in [performance.md](performance.md).`

const STEP_MARK = '/* step: '
const ENTRY = /duration: ([\d.]+) ms {2}plan:\n((?:\t.*\n)+)/g
/** Sent when some time has passed, in whatever step that falls. */
const TELLING = 'tell others'
const PURPOSE = /\/\* (step|escapement): (.+?) \*\//

/** What the server has written down of statements of ours, step by step. */
function plansIn(log: string): Plan[] {
  const plans: Plan[] = []
  let step = ''
  for (const [, ms, text] of log.matchAll(ENTRY)) {
    const [, kind, purpose] = PURPOSE.exec(text!) ?? []
    if (kind === 'step') step = purpose!
    if (kind !== 'escapement' || purpose === TELLING) continue
    const told = text!.split('\n').map((line) => line.slice(1))
    const lines = told
      .slice(told.findIndex((line) => line.includes('(cost=')))
      .filter((line) => line !== '' && !BESIDE_THE_POINT.test(line))
      .map((line) => line.replace(/\(cost=\S+ rows=\d+ width=\d+\) ?/, '').slice(0, LONGEST_LINE))
    plans.push({ step, purpose: purpose!, ms: Number(ms), lines })
  }
  return plans
}

const BESIDE_THE_POINT = /^ *(?:Storage: |Index Searches: |Heap Fetches: 0|Sort Method: |Query Identifier: )/
const LONGEST_LINE = 240

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const isQuick = process.argv.includes('--quick')
  const page = await benchStatements(isQuick ? QUICK : FULL)
  if (isQuick) console.log(page)
  else fs.writeFileSync(new URL('../docs/statement-plans.md', import.meta.url), page)
}
