/**
 * The same work where it may be: on the database inside the process, on a PostgreSQL server, and on one whose every commit waits for a
 * replica too.
 *
 *     npm run bench:setups             a few minutes
 *     npm run bench:setups -- --quick  small enough for the tests
 *
 * One process asks for runs and works on them, handlers do nothing. PostgreSQL from npm, fsync and synchronous_commit on; the replica is a second
 * server on the same machine, and so takes some of its processors and its disk. In turns, round by round; medians with the lowest and highest beside them.
 */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { createEscapement, type EscapementOptions } from 'escapement'
import { type PostgresServer, startPostgres } from '../test/support/postgres-server.js'
import { number, seconds, spread } from './figures.js'

export interface SetupsSize {
  /** In one call, and then drained. */
  backlog: number
  /** One after the other, each awaited. */
  single: number
  rounds: number
}

const FULL: SetupsSize = { backlog: 30_000, single: 300, rounds: 5 }
export const QUICK: SetupsSize = { backlog: 200, single: 5, rounds: 1 }

const SETTINGS = ['shared_buffers=1GB', 'max_wal_size=8GB']
const INPUT = { customer: 123_456, report: 'x'.repeat(50) }

export async function benchSetups(size: SetupsSize, print: (line: string) => void): Promise<void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-setups-'))
  const alone = await startPostgres({ fsync: true, settings: SETTINGS })
  const pair = await startReplicated(folder)
  const setups: Record<string, EscapementOptions['database']> = {
    embedded: { directory: path.join(folder, 'embedded') },
    PostgreSQL: alone.url,
    'PostgreSQL with a synchronous replica': pair.url,
  }
  try {
    const found = new Map(
      Object.keys(setups).map((name) => [name, { bulk: [], single: [], drain: [] } as Rates]),
    )
    for (let round = 0; round < size.rounds; round++) {
      for (const [name, database] of Object.entries(setups))
        await measureOne(database, size, found.get(name)!)
    }
    for (const [name, { bulk, single, drain }] of found) {
      print(
        `${name}: in bulk ${spread(bulk)} runs/s, one by one ${spread(single)} runs/s, drained ${spread(drain)} runs/s`,
      )
    }
  } finally {
    await pair.remove()
    await alone.remove()
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

type Rates = Record<'bulk' | 'single' | 'drain', number[]>

async function measureOne(
  database: EscapementOptions['database'],
  { backlog, single }: SetupsSize,
  rates: Rates,
): Promise<void> {
  const escapement = await createEscapement({ database, worker: { concurrency: 1_000 } })
  let left = backlog + single
  let isDone = () => {}
  const job = escapement.job('noop', {
    handler() {
      left -= 1
      if (left === 0) isDone()
    },
  })
  const items = Array.from({ length: backlog }, () => ({ input: INPUT }))
  rates.bulk.push(backlog / (await seconds(() => escapement.runs.enqueueMany(job, items))))
  const oneByOne = async () => {
    for (let run = 0; run < single; run++) await escapement.runs.enqueue(job, INPUT)
  }
  rates.single.push(single / (await seconds(oneByOne)))
  const drain = async () => {
    const done = new Promise<void>((resolve) => {
      isDone = resolve
    })
    await escapement.start({ roles: ['worker'] })
    await done
    // Their outcomes are written before it ends.
    await escapement.stop()
  }
  rates.drain.push((backlog + single) / (await seconds(drain)))
  await escapement.close()
}

/** Two servers: the second has the data of the first and follows it, and no commit of the first counts before the second has it on its disk. */
async function startReplicated(folder: string): Promise<Pick<PostgresServer, 'url' | 'remove'>> {
  const primary = await startPostgres({
    fsync: true,
    keep: emptyFolder(folder, 'primary'),
    settings: SETTINGS,
  })
  await primary.stop()
  const replica = emptyFolder(folder, 'replica')
  execFileSync('cp', ['-a', path.join(folder, 'primary', 'data'), replica])
  const signal = path.join(replica, 'data', 'standby.signal')
  fs.writeFileSync(signal, '')
  const { uid, gid } = fs.statSync(path.join(replica, 'data'))
  for (const owned of [replica, signal]) fs.chownSync(owned, uid, gid)
  await primary.restart()
  const { hostname, port } = new URL(primary.url)
  const follows = `primary_conninfo=host=${hostname} port=${port} user=postgres`
  const standby = await startPostgres({ fsync: true, keep: replica, settings: [...SETTINGS, follows] })
  const escapement = await createEscapement({ database: primary.url })
  await escapement.database.query(`alter system set synchronous_standby_names = '*'`)
  await escapement.database.query('select pg_reload_conf()')
  const FOLLOWS = `select count(*)::float8 as value from pg_stat_replication where sync_state = 'sync'`
  while ((await number(escapement.database, FOLLOWS)) === 0) await sleep(50)
  await escapement.close()
  return {
    url: primary.url,
    async remove() {
      // The first waits for the second while it lives.
      await primary.kill()
      await standby.remove()
    },
  }
}

/** One that whoever PostgreSQL runs as can enter. */
function emptyFolder(parent: string, name: string): string {
  const folder = path.join(parent, name)
  fs.chmodSync(parent, 0o755)
  fs.mkdirSync(folder, { mode: 0o755 })
  return folder
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await benchSetups(process.argv.includes('--quick') ? QUICK : FULL, console.log)
}
