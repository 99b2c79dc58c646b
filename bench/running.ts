/**
 * What a running system is like: how late handlers begin, how long the runs of a killed worker wait, and what a process asks for
 * and holds when nothing is due.
 *
 *     npm run bench:running             a table of 1,000,000 schedules
 *     npm run bench:running -- --quick  small enough for the tests
 *
 * PostgreSQL from npm, fsync and synchronous_commit on; processes as users start them, from the compiled package. With PgBouncer on
 * the PATH the killed worker is behind one as well, where nobody can see that its session has ended.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { createEscapement, type Escapement, every, once } from '../src/index.js'
import { startPgBouncer } from '../test/faults/pgbouncer.js'
import { startPostgres } from '../test/support/postgres-server.js'
import { inEnglish, middle, number, percentile, spread } from './figures.js'
import { type RunningProcess, startRunning } from './running/process.js'

export interface RunningSize {
  schedules: number
  idleMs: number
  /** How often each of the rest is done. */
  rounds: number
  /** Due at one instant. */
  together: number
  /** Due at one instant, and followed until the last has ended. */
  herd: number
  /** Due one after another, ten a second. */
  trickle: number
  hasPooler: boolean
  /** How long before they are due schedules are put. */
  leadMs: number
}

export const FULL: RunningSize = {
  schedules: 1_000_000,
  idleMs: 60_000,
  rounds: 5,
  together: 1_000,
  herd: 20_000,
  trickle: 300,
  hasPooler: true,
  leadMs: 2_000,
}
export const QUICK: RunningSize = {
  schedules: 1_000,
  idleMs: 500,
  rounds: 1,
  together: 20,
  herd: 200,
  trickle: 5,
  hasPooler: false,
  leadMs: 500,
}

const SETTINGS = ['shared_buffers=4GB', 'max_wal_size=8GB', 'shared_preload_libraries=pg_stat_statements']

/** Returns how many runs a second are fired, claimed and completed, in the middle of the rounds. */
export async function benchRunning(size: RunningSize, print: (line: string) => void): Promise<number> {
  const server = await startPostgres({ fsync: true, settings: SETTINGS })
  const escapement = await createEscapement({ database: server.url })
  try {
    await escapement.database.query('create extension pg_stat_statements')
    await fill(escapement.database, 'customer', size.schedules, new Date('2036-01-01T00:00:00Z'))
    print(`${inEnglish(size.schedules)} schedules in the table`)
    // One process for both: how late handlers begin is that of one that has been running for a while.
    const system = await startRunning(server.url)
    const rates = await through(escapement, system, size)
    print(
      `${inEnglish(size.herd)} due at once, fired, claimed and completed by one process: ${spread(rates)} runs/s`,
    )
    print(await lateness(escapement, system, size))
    await system.stop()
    print(await idle(escapement, server.url, size))
    print(`a worker with 10 runs is killed: ${await recovery(escapement, server.url, size.rounds)}`)
    if (size.hasPooler) print(await recoveryBehindPooler(escapement, server.url))
    return middle(rates)
  } finally {
    await escapement.close()
    await server.remove()
  }
}

/** Schedules for once a year, all of them next at the same instant. */
async function fill(database: Escapement['database'], name: string, count: number, at: Date): Promise<void> {
  const policies = `'{"catchUp":"latest","catchUpWindow":null,"catchUpLimit":100,"grace":"1 minute","overlap":"allow","delay":"0 seconds","jitter":"0 seconds","breaker":null,"deleteWhenDone":false}'`
  await database.query(
    `with s as (
       insert into escapement.schedules (id, name, version, job, input, queue, priority, scopes, timing, policies, start_at, state,
         state_since, ledger_from, zone_data, created_at, updated_at)
       select uuidv7(), $1 || ':' || n, 1, 'noop', jsonb_build_object('customer', n, 'report', repeat('x', 100)),
         'default', 0, '{global}', jsonb_build_object('kind', 'every', 'every', '8760 hours', 'anchor', left($3::text, 23), 'zone', 'UTC'), ${policies}, now(), 'active',
         now(), now(), null, now(), now()
       from generate_series(1, $2::int) as n
       returning id
     )
     insert into escapement.cursors (schedule_id, version, kind, next_at, wake_at, decided_through)
     select id, 1, 'every', $3::timestamptz, $3::timestamptz, now() from s`,
    [name, count, at.toISOString()],
  )
  await database.query('vacuum analyze escapement.schedules, escapement.cursors')
}

/** From a plan time until the last of a herd has its outcome recorded, with one process that has all roles: runs a second. */
async function through(
  { database }: Escapement,
  system: RunningProcess,
  { herd, rounds, leadMs }: RunningSize,
): Promise<number[]> {
  const rates: number[] = []
  for (let round = 0; round < rounds; round++) {
    // Late enough that the table is filled by then.
    const at = new Date(Date.now() + leadMs + herd / 4)
    await fill(database, `herd-${round}`, herd, at)
    if (at.getTime() < Date.now()) throw new Error('the herd was due before it was there')
    const ended = `select count(*)::float8 as value from escapement.runs_ended where finished_at >= '${at.toISOString()}'`
    while ((await number(database, ended)) < herd) await sleep(200)
    const took = `select extract(epoch from max(finished_at) - '${at.toISOString()}')::float8 as value from escapement.runs_ended`
    rates.push(herd / (await number(database, took)))
    system.takeBegun()
  }
  return rates
}

/** From the plan time to the start of the handler, with one process that has all roles. */
async function lateness(escapement: Escapement, system: RunningProcess, size: RunningSize): Promise<string> {
  const fire = async (instants: readonly number[], about: (at: Date) => object): Promise<number[]> => {
    const definitions = instants.map((at, index) => [
      `late:${at}:${index}`,
      { job: 'noop', ...about(new Date(at)) },
    ])
    await escapement.schedules.sync(Object.fromEntries(definitions))
    if (Math.min(...instants) <= Date.now()) throw new Error('they were due before they were there')
    await sleep(Math.max(...instants) - Date.now())
    const begun = []
    while (begun.length < instants.length) {
      await sleep(50)
      begun.push(...system.takeBegun())
    }
    return begun.map(({ at, planTime }) => at - planTime!)
  }
  const daily = (at: Date) => ({ timing: every('24 hours', { anchor: at.toISOString() }) })
  const single = (at: Date) => ({ timing: once(at), deleteWhenDone: true })
  const soon = () => Date.now() + size.leadMs
  const fireTogether = async (about: (at: Date) => object) => {
    const late: number[] = []
    for (let round = 0; round < size.rounds; round++) {
      const at = soon()
      late.push(
        ...(await fire(
          Array.from({ length: size.together }, () => at),
          about,
        )),
      )
    }
    return late
  }
  await fire([soon()], daily)
  const herds = await fireTogether(daily)
  const singles = await fireTogether(single)
  const start = soon()
  const trickle = await fire(
    Array.from({ length: size.trickle }, (_, index) => start + index * 100),
    daily,
  )
  const line = (values: readonly number[]) =>
    `p50 ${inEnglish(percentile(values, 0.5))} ms, p99 ${inEnglish(percentile(values, 0.99))} ms`
  return [
    `plan time to handler, ${inEnglish(size.together)} due at once: ${line(herds)}`,
    `plan time to handler, ${inEnglish(size.together)} due once, and then deleted: ${line(singles)}`,
    `plan time to handler, 10 due each second: ${line(trickle)}`,
  ].join('\n')
}

/** One process with all roles, when nothing is due for long. */
async function idle({ database }: Escapement, url: string, { idleMs }: RunningSize): Promise<string> {
  const system = await startRunning(url)
  // What it does when it has just begun is not what it does all day.
  await sleep(idleMs / 6)
  await database.query('select pg_stat_statements_reset()')
  const before = await system.usage()
  await sleep(idleMs)
  const after = await system.usage()
  const statements = await number(database, STATEMENTS)
  await system.stop()
  return [
    `idle, scheduler and worker together: ${inEnglish((statements / idleMs) * 1000, 2)} statements/s`,
    `${inEnglish((100 * (after.cpuMs - before.cpuMs)) / idleMs, 2)} % of a core, ${inEnglish(after.rss / 1e6)} MB resident`,
  ].join(', ')
}

const STATEMENTS = `select coalesce(sum(calls), 0)::float8 as value from pg_stat_statements
  where query not like '%pg_stat_statements%'`

/** Seconds from the SIGKILL of a worker to the start of the last of its runs in another. */
async function recoverOnce(escapement: Escapement, victimUrl: string, otherUrl: string): Promise<number> {
  const victim = await startRunning(victimUrl, { roles: ['worker'] })
  const items = Array.from({ length: 10 }, (_, input) => ({ input }))
  await escapement.runs.enqueueMany('stuck', items)
  while (victim.takeBegun().length === 0) await sleep(20)
  await sleep(500)
  const other = await startRunning(otherUrl, { roles: ['worker'] })
  const killedAt = Date.now()
  await victim.kill()
  const begun = []
  while (begun.length < items.length) {
    await sleep(20)
    begun.push(...other.takeBegun())
  }
  await other.stop()
  return (Math.max(...begun.map(({ at }) => at)) - killedAt) / 1000
}

async function recovery(escapement: Escapement, url: string, rounds: number): Promise<string> {
  const seconds: number[] = []
  for (let round = 0; round < rounds; round++) seconds.push(await recoverOnce(escapement, url, url))
  return `its runs begin again after ${spread(seconds, 1)} s`
}

async function recoveryBehindPooler(escapement: Escapement, url: string): Promise<string> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-bench-'))
  fs.chmodSync(folder, 0o777)
  const pooler = await startPgBouncer(url, folder)
  try {
    if (pooler === null) return 'the same behind PgBouncer: not run, it is not installed'
    const seconds = await recoverOnce(escapement, pooler.url, pooler.url)
    return `the same behind PgBouncer in transaction mode: ${inEnglish(seconds, 1)} s`
  } finally {
    await pooler?.kill()
    fs.rmSync(folder, { recursive: true })
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await benchRunning(process.argv.includes('--quick') ? QUICK : FULL, console.log)
}
