/**
 * What a running system is like: how late handlers begin, how long the runs of a killed worker wait, and what a process asks for
 * and holds when nothing is due.
 *
 *     npm run bench:running             a table of 1,000,000 schedules
 *     npm run bench:running -- --quick  small enough for the tests
 *
 * Beside it the same by hand, in turns: what the machine and the server take at least.
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
  /** Due one after another, ten a second, in each round. */
  trickle: number
  hasPooler: boolean
  /** How long before they are due schedules are put. */
  leadMs: number
}

export const FULL: RunningSize = {
  schedules: 1_000_000,
  idleMs: 30_000,
  rounds: 5,
  together: 1_000,
  herd: 20_000,
  trickle: 40,
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
    const systems = [await openOurs(escapement, server.url), await openByHand(escapement, server.url)]
    const rates = await through(systems, size)
    for (const [index, { name }] of systems.entries()) {
      print(
        `${inEnglish(size.herd)} due at once, fired, claimed and completed by one process${name}: ${spread(rates[index]!)} runs/s`,
      )
    }
    print(await lateness(systems, size))
    for (const { process } of systems) await process.stop()
    print(await idle(escapement, server.url, size))
    print(`a worker with 10 runs is killed: ${await recovery(escapement, server.url, size.rounds)}`)
    if (size.hasPooler) print(await recoveryBehindPooler(escapement, server.url))
    return middle(rates[0]!)
  } finally {
    await escapement.close()
    await server.remove()
  }
}

/** Schedules for once a year, all of them next at the same instant. Two halves at once: a million take a while. */
async function fill(database: Escapement['database'], name: string, count: number, at: Date): Promise<void> {
  const policies = `'{"catchUp":"latest","catchUpWindow":null,"catchUpLimit":100,"grace":"1 minute","overlap":"allow","delay":"0 seconds","jitter":"0 seconds","breaker":null,"deleteWhenDone":false}'`
  const half = Math.ceil(count / 2)
  const insert = (first: number, last: number) =>
    database.query(
      `with s as (
       insert into escapement.schedules (id, name, version, job, input, queue, priority, scopes, timing, policies, start_at, state,
         state_since, ledger_from, zone_data, created_at, updated_at)
       select uuidv7(), $1 || ':' || n, 1, 'noop', jsonb_build_object('customer', n, 'report', repeat('x', 100)),
         'default', 0, '{global}', jsonb_build_object('kind', 'every', 'every', '8760 hours', 'anchor', left($3::text, 23), 'zone', 'UTC'), ${policies}, now(), 'active',
         now(), now(), null, now(), now()
       from generate_series($2::int, $4::int) as n
       returning id
     )
     insert into escapement.cursors (schedule_id, version, kind, next_at, wake_at, decided_through)
     select id, 1, 'every', $3::timestamptz, $3::timestamptz, now() from s`,
      [name, first, at.toISOString(), last],
    )
  await Promise.all([insert(1, half), insert(half + 1, count)])
  const tables = ['escapement.schedules', 'escapement.cursors']
  await Promise.all(tables.map((table) => database.query(`vacuum analyze ${table}`)))
}

/** One process that fires and works, and how it is given something to do. */
interface System {
  /** What stands beside its figures. */
  name: string
  process: RunningProcess
  /** So many, all due at one instant. */
  fill(name: string, count: number, at: Date): Promise<void>
  /** One for each of these instants, a day apart from then on. */
  put(instants: readonly number[]): Promise<void>
  /** The same, with nothing after it; null where there is no such thing. */
  putSingle: ((instants: readonly number[]) => Promise<void>) | null
  /** Seconds from then until the last one since has its outcome; NaN as long as fewer than `count` have. */
  secondsUntilEnd(at: Date, count: number): Promise<number>
}

const endedSince =
  (table: string) =>
  ({ database }: Escapement, at: Date, count: number) =>
    number(
      database,
      `select case when count(*) >= ${count} then extract(epoch from max(finished_at) - '${at.toISOString()}') else 'NaN' end::float8 as value
     from ${table} where finished_at >= '${at.toISOString()}'`,
    )

async function openOurs(escapement: Escapement, url: string): Promise<System> {
  const sync = async (instants: readonly number[], about: (at: Date) => object) => {
    const definitions = instants.map((at, index) => [
      `late:${at}:${index}`,
      { job: 'noop', ...about(new Date(at)) },
    ])
    await escapement.schedules.sync(Object.fromEntries(definitions))
  }
  const ended = endedSince('escapement.runs_ended')
  return {
    name: '',
    process: await startRunning(url),
    fill: (name, count, at) => fill(escapement.database, name, count, at),
    put: (instants) => sync(instants, (at) => ({ timing: every('24 hours', { anchor: at.toISOString() }) })),
    putSingle: (instants) => sync(instants, (at) => ({ timing: once(at), deleteWhenDone: true })),
    secondsUntilEnd: (at, count) => ended(escapement, at, count),
  }
}

async function openByHand(escapement: Escapement, url: string): Promise<System> {
  const { database } = escapement
  for (const statement of [
    'create schema by_hand',
    `create table by_hand.cursors (id uuid primary key default gen_random_uuid(), next_at timestamptz(3) not null, input jsonb not null)`,
    'create index on by_hand.cursors (next_at)',
    `create table by_hand.runs (id uuid primary key default gen_random_uuid(), schedule_id uuid not null, plan_time timestamptz(3) not null,
       input jsonb not null, state text not null, started_at timestamptz(3), finished_at timestamptz(3))`,
    `create index on by_hand.runs (plan_time) where state = 'pending'`,
  ]) {
    await database.query(statement)
  }
  const insert = async (instants: readonly number[]) => {
    await database.query(
      `insert into by_hand.cursors (next_at, input)
       select to_timestamp(at / 1000), jsonb_build_object('customer', 1, 'report', repeat('x', 100)) from unnest($1::float8[]) as at`,
      [instants],
    )
    await database.query(`select pg_notify('by_hand_cursors', '')`)
  }
  const ended = endedSince('by_hand.runs')
  return {
    name: ', by hand',
    process: await startRunning(url, { of: 'by hand' }),
    async fill(_, count, at) {
      await insert(Array.from({ length: count }, () => at.getTime()))
      await database.query('vacuum analyze by_hand.cursors, by_hand.runs')
    },
    put: insert,
    putSingle: null,
    secondsUntilEnd: (at, count) => ended(escapement, at, count),
  }
}

/** From a plan time until the last of a herd has its outcome recorded, with one process that has all roles: runs a second. */
async function through(
  systems: readonly System[],
  { herd, rounds, leadMs }: RunningSize,
): Promise<number[][]> {
  const rates: number[][] = systems.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, { process, fill, secondsUntilEnd }] of systems.entries()) {
      // Late enough that the table is filled by then.
      const at = new Date(Date.now() + leadMs + herd / 4)
      await fill(`herd-${round}`, herd, at)
      if (at.getTime() < Date.now()) throw new Error('the herd was due before it was there')
      // Counting them in the database would take part of what is measured.
      await allBegun(process, herd)
      let seconds = Number.NaN
      while (Number.isNaN(seconds)) {
        await sleep(50)
        seconds = await secondsUntilEnd(at, herd)
      }
      rates[index]!.push(herd / seconds)
    }
  }
  return rates
}

/** Milliseconds from the plan times to the handlers, once so many have begun. */
async function allBegun(process: RunningProcess, count: number): Promise<number[]> {
  const late: number[] = []
  while (late.length < count) {
    await sleep(50)
    late.push(...process.takeBegun().map(({ at, planTime }) => at - planTime!))
  }
  return late
}

/** From the plan time to the start of the handler, with one process that has all roles. */
async function lateness(systems: readonly System[], size: RunningSize): Promise<string> {
  const soon = () => Date.now() + size.leadMs
  const fire = async (
    { process }: System,
    put: (instants: readonly number[]) => Promise<void>,
    instants: readonly number[],
  ) => {
    await put(instants)
    if (Math.min(...instants) <= Date.now()) throw new Error('they were due before they were there')
    return allBegun(process, instants.length)
  }
  const together = (at: number) => Array.from({ length: size.together }, () => at)
  const trickle = (from: number) => Array.from({ length: size.trickle }, (_, index) => from + index * 100)
  const lines: string[] = []
  const tell = (what: string, late: readonly number[]) =>
    lines.push(
      `plan time to handler, ${what}: p50 ${inEnglish(percentile(late, 0.5))} ms, p99 ${inEnglish(percentile(late, 0.99))} ms`,
    )
  const herds: number[][] = systems.map(() => [])
  const singles: number[] = []
  const trickles: number[][] = systems.map(() => [])
  for (const system of systems) await fire(system, system.put, [soon()])
  for (let round = 0; round < size.rounds; round++) {
    for (const [index, system] of systems.entries()) {
      herds[index]!.push(...(await fire(system, system.put, together(soon()))))
      if (system.putSingle) singles.push(...(await fire(system, system.putSingle, together(soon()))))
      trickles[index]!.push(...(await fire(system, system.put, trickle(soon()))))
    }
  }
  for (const [index, { name }] of systems.entries())
    tell(`${inEnglish(size.together)} due at once${name}`, herds[index]!)
  tell(`${inEnglish(size.together)} due once, and then deleted`, singles)
  for (const [index, { name }] of systems.entries()) tell(`10 due each second${name}`, trickles[index]!)
  return lines.join('\n')
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
