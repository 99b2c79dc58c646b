/**
 * The long run: a mixed load (bench/soak/load.ts) at 80 % of what this machine keeps up with, on two processes of which one is killed
 * every minute, while a stranger holds a transaction open for a sixth of the time in the middle.
 *
 *     npm run bench:soak                    an hour, after some minutes of finding the highest rate
 *     npm run bench:soak -- --minutes 10    shorter; below 20 minutes it measures and judges nothing
 *     npm run bench:soak -- --above 15000   looks for the highest rate from there downwards, two minutes for each
 *     npm run bench:soak -- --pictures DIR  draws the charts there; without it only the whole hour is drawn, in docs/pictures
 *     npm run bench:soak -- --quick         small enough for the tests
 *
 * PostgreSQL from npm, fsync and synchronous_commit on, autovacuum as it comes; nothing is pruned. It ends with 1 where the audit finds
 * anything, a run is lost or has failed, lateness is not flat, or something has bloated. Ctrl-C stops everything.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { createEscapement, type Escapement } from '../src/index.js'
import { startPostgres } from '../test/support/postgres-server.js'
import { inEnglish, percentile } from './figures.js'
import { findMaximum, type Parts, type Steps } from './soak/calibration.js'
import { type Course, drawCourse } from './soak/charts.js'
import { createLoad } from './soak/load.js'
import { startProcesses } from './soak/processes.js'
import { judge, quarterTable, type Sample, SHORTEST_JUDGED_MINUTES } from './soak/verdict.js'
import { openWatcher, type Watcher } from './soak/watching.js'

export interface SoakSize {
  minutes: number
  sampleMs: number
  killEveryMs: number
  /** A sample that begins so soon after a kill is near it: runs of the killed are free after five seconds, and are then caught up with. */
  nearKillMs: number
  /** How often it tells how things stand. */
  printEveryMs: number
  steps: Steps
}

const FULL: SoakSize = {
  minutes: 60,
  sampleMs: 10_000,
  killEveryMs: 60_000,
  nearKillMs: 15_000,
  printEveryMs: 60_000,
  steps: { first: 500, most: 100_000, stepMs: 10_000, halvings: 3, confirmMs: 120_000, waitingS: 0.5 },
}
export const QUICK: SoakSize = {
  minutes: 0.05,
  sampleMs: 250,
  killEveryMs: 1_200,
  nearKillMs: 400,
  printEveryMs: 1_500,
  steps: { first: 40, most: 50, stepMs: 500, halvings: 0, confirmMs: 500, waitingS: 60 },
}

/**
 * After each checkpoint the first change of a page takes all of it to the log. Ids that are derived from names fall anywhere in an index, so that the longer the history
 * the more of its pages change, each once: checkpoints are as far apart as the log may be long.
 */
const SETTINGS = ['shared_buffers=6GB', 'max_wal_size=20GB']
const PROCESSES = 2
const SHARE_OF_MAXIMUM = 0.8
const MINUTE = 60_000
const MOST_DRAINING_MS = 10 * MINUTE

interface Surroundings {
  print: (line: string) => void
  signal: AbortSignal
  /** Where to draw; nowhere without it. */
  pictures?: string | undefined
  /** What is surely not kept up with, where that is known. */
  above?: number | undefined
}

/** Resolves with what is wrong: nothing, where all is well. */
export async function soak(
  size: SoakSize,
  { print, signal, pictures, above }: Surroundings,
): Promise<string[]> {
  const server = await startPostgres({ fsync: true, settings: SETTINGS })
  const opened: (() => unknown)[] = [() => server.remove()]
  try {
    const escapement = await createEscapement({ database: server.url })
    opened.unshift(() => escapement.close())
    // Only asked for here: the processes work on them.
    for (const name of ['steady', 'flaky', 'limited']) escapement.job(name, { handler: () => {} })
    const processes = await startProcesses(server.url, PROCESSES)
    opened.unshift(() => processes.kill())
    const watcher = await openWatcher(server.url)
    opened.unshift(() => watcher.close())
    const load = createLoad(escapement)
    // Not waited for: what it waits for is answered once the others are closed.
    opened.unshift(() => void load.stop())

    const parts = { load, processes, watcher }
    const maximum = await findMaximum(parts, size.steps, { print, signal, above })
    const rate = Math.round(maximum * SHARE_OF_MAXIMUM)
    print(`At most ${inEnglish(maximum)} runs/s; ${inEnglish(rate)} are held for ${size.minutes} minutes.`)
    // Of more than is kept up with, some may be there although their callers were told nothing: counting begins here.
    load.rest()
    while (load.unanswered() > 0) await sleep(20, undefined, { signal })
    const before = { asked: load.asked(), recorded: await watcher.count(DIRECT) }
    await load.setRate(rate)
    // What the search has left lying is no part of it.
    await sleep(size.steps.stepMs, undefined, { signal })
    const course = await hold(parts, size, rate, { print, signal })
    for (const line of quarterTable(course.samples)) print(line)
    if (pictures !== undefined) drawCourse(pictures, course)
    const doubts = tellVerdict(course.samples, size.minutes, print)
    return [...doubts, ...(await windUp({ ...parts, escapement, before }, { print, signal }))]
  } finally {
    for (const close of opened) await Promise.resolve(close()).catch(() => {})
  }
}

/** Samples while the load is held, processes are killed and the stranger comes and goes. */
async function hold(
  { load, processes, watcher }: Parts,
  { minutes, sampleMs, killEveryMs, nearKillMs, printEveryMs }: SoakSize,
  rate: number,
  { print, signal }: Surroundings,
): Promise<Course> {
  const lastMs = minutes * MINUTE
  const span = { fromMs: (lastMs * 5) / 12, toMs: (lastMs * 7) / 12 }
  const stranger = createStranger(watcher, span)
  const samples: Sample[] = []
  const killsMs: number[] = []
  const startedMs = performance.now()
  let before = { ms: 0, ended: (await watcher.look()).ended }
  processes.takeLateness()
  let plannedMs = sampleMs
  while (plannedMs <= lastMs) {
    await sleep(Math.max(0, plannedMs - (performance.now() - startedMs)), undefined, { signal })
    const state = await watcher.look()
    const ms = performance.now() - startedMs
    load.asked()
    const late = processes.takeLateness()
    const sample = {
      ...state,
      minute: ms / MINUTE,
      done: (1000 * (state.ended - before.ended)) / (ms - before.ms),
      lateness: late.length > 0 ? { p50: percentile(late, 0.5), p99: percentile(late, 0.99) } : null,
      isNearKill: killsMs.some((killed) => killed >= before.ms - nearKillMs),
      isWithStranger: stranger.isHere(),
    }
    samples.push(sample)
    if (hasPassed(printEveryMs, before.ms, ms)) print(tell(sample))
    if (hasPassed(killEveryMs, before.ms, ms)) {
      processes.killOne()
      killsMs.push(ms)
    }
    await stranger.comeOrGo(ms)
    before = { ms, ended: state.ended }
    // One that took long is not followed by one of a moment.
    plannedMs = sampleMs * (Math.floor(ms / sampleMs + 0.5) + 1)
  }
  return {
    rate,
    samples,
    kills: killsMs.map((ms) => ms / MINUTE),
    stranger: { from: span.fromMs / MINUTE, to: span.toMs / MINUTE },
  }
}

/** Somebody who begins a transaction, looks at something and forgets to end it. */
function createStranger(watcher: Watcher, { fromMs, toMs }: { fromMs: number; toMs: number }) {
  let leave: (() => Promise<void>) | undefined
  return {
    isHere: () => leave !== undefined,
    async comeOrGo(ms: number) {
      if (ms >= toMs) {
        await leave?.()
        leave = undefined
      } else if (ms >= fromMs) leave ??= await watcher.holdTransaction()
    },
  }
}

/** Whether a multiple of the span lies between the two. */
const hasPassed = (span: number, before: number, now: number) =>
  Math.floor(now / span) > Math.floor(before / span)

function tell({ minute, done, lateness, backlog, tables }: Sample): string {
  return [
    `minute ${inEnglish(minute, 1)}: ${inEnglish(done)} runs/s done`,
    lateness === null
      ? 'none began'
      : `begun p50 ${inEnglish(lateness.p50)} ms, p99 ${inEnglish(lateness.p99)} ms late`,
    `${inEnglish(backlog)} wait`,
    `dead rows ${inEnglish(tables.runs_open.dead)} in runs_open, ${inEnglish(tables.lots.dead)} in lots, ${inEnglish(tables.cursors.dead)} in cursors`,
  ].join('; ')
}

/** Lets everything end that was asked for, and says what is wrong with the ledger. */
async function windUp(
  {
    load,
    processes,
    watcher,
    escapement,
    before,
  }: Parts & { escapement: Escapement; before: { asked: number; recorded: number } },
  { print, signal }: Surroundings,
): Promise<string[]> {
  await load.stop()
  const direct = load.asked() - before.asked
  const deadline = performance.now() + MOST_DRAINING_MS
  while ((await watcher.count(OPEN_DIRECT)) > 0) {
    if (performance.now() > deadline)
      throw new Error('Direct runs are still open ten minutes after the load.')
    await sleep(200, undefined, { signal })
  }
  await processes.stop()
  const recorded = (await watcher.count(DIRECT)) - before.recorded
  const unsuccessful = await watcher.count(UNSUCCESSFUL)
  const { schedules, occurrences, missing, double, unexpected } = await escapement.audit()
  const found = missing.length + double.length + unexpected.length
  print(
    [
      `audit: ${inEnglish(occurrences)} plan times of ${inEnglish(schedules)} schedules, ${found} findings`,
      `${inEnglish(direct)} direct runs were asked for, ${inEnglish(recorded)} are there`,
      `${inEnglish(unsuccessful)} runs ended otherwise than well`,
    ].join('; '),
  )
  return [
    ...(found > 0
      ? [`the audit: ${JSON.stringify([...missing, ...double, ...unexpected].slice(0, 5))}`]
      : []),
    ...(recorded === direct ? [] : ['direct runs are lost or doubled']),
    ...(unsuccessful === 0 ? [] : ['runs have failed that ought to have been tried again']),
  ]
}

const OPEN_DIRECT = 'select count(*) from escapement.runs_at_hand where schedule_id is null'
const DIRECT = `select count(*) from escapement.runs_asked where trigger = 'direct'`
const UNSUCCESSFUL = `select count(*) from escapement.runs_ended where state in ('failed', 'cancelled', 'skipped')`

function tellVerdict(samples: readonly Sample[], minutes: number, print: (line: string) => void): string[] {
  const { ratios, spells, isFlat, bloat } = judge(samples)
  const ratio = `p50 and p99 of the last quarter are ${ratios.p50.toFixed(2)} and ${ratios.p99.toFixed(2)} × those of the first`
  if (minutes < SHORTEST_JUDGED_MINUTES) {
    print(
      `${ratio}; ${[...spells, ...bloat].join('; ') || 'nothing has bloated'}: too short to be judged (${SHORTEST_JUDGED_MINUTES} minutes)`,
    )
    return []
  }
  print(`Lateness is ${isFlat ? 'flat' : 'not flat'}: ${[ratio, ...spells].join('; ')}.`)
  print(bloat.length === 0 ? 'Bloat is bounded.' : `Bloat is not bounded: ${bloat.join('; ')}.`)
  return [...(isFlat ? [] : [[ratio, ...spells].join('; ')]), ...bloat]
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string' },
      above: { type: 'string' },
      pictures: { type: 'string' },
      quick: { type: 'boolean', default: false },
    },
  })
  const size = values.quick ? QUICK : FULL
  const minutes = Number(values.minutes ?? size.minutes)
  if (!(minutes > 0)) throw new Error(`--minutes: "${values.minutes}" – must be a number above 0, such as 60`)
  const above = values.above === undefined ? undefined : Number(values.above)
  if (above !== undefined && !(above > 0))
    throw new Error(`--above: "${values.above}" – must be a number of runs in a second, such as 15000`)
  const docs = fileURLToPath(new URL('../docs/pictures', import.meta.url))
  const isWhole = !values.quick && minutes >= FULL.minutes
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
  const wrong = await soak(
    { ...size, minutes },
    {
      print: console.log,
      signal: stopping.signal,
      pictures: values.pictures ?? (isWhole ? docs : undefined),
      above,
    },
  ).catch((error) => {
    if (!stopping.signal.aborted) throw error
    return ['it was stopped']
  })
  for (const line of wrong) console.error(`Wrong: ${line}`)
  process.exit(wrong.length > 0 ? 1 : 0)
}
