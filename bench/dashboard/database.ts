/** The full database of this bench, and the server over it in a process of its own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createEscapement, type Escapement } from '../../src/index.js'
import { type PostgresServer, startPostgres } from '../../test/support/postgres-server.js'
import type { Known } from './calls.js'
import { BUSY, type FillSize, fill, JOBS } from './fill.js'

const SETTINGS = ['shared_buffers=1GB', 'max_wal_size=8GB']
/** What is of the last hour and day must be. */
const FRESH_MS = 12 * 3_600_000

export interface FilledDatabase {
  server: PostgresServer
  known: Known
  close(): Promise<void>
}

/** Filled anew, unless `keep` names a folder that holds it, of the same size and not old. */
export async function openFilled(
  size: FillSize,
  keep: string | undefined,
  tell: (line: string) => void,
): Promise<FilledDatabase> {
  if (keep !== undefined && !isFresh(keep, size))
    fs.rmSync(path.join(keep, 'data'), { recursive: true, force: true })
  const isKept = keep !== undefined && fs.existsSync(path.join(keep, 'data'))
  if (keep !== undefined) fs.mkdirSync(keep, { recursive: true })
  const server = await startPostgres({ fsync: true, settings: SETTINGS, ...(keep !== undefined && { keep }) })
  const escapement = await createEscapement({ database: server.url })
  if (!isKept) {
    for (const name of JOBS) escapement.job(name, { handler: () => {} })
    // For a moment, so that its jobs are published.
    await escapement.start({ roles: ['worker'] })
    await escapement.stop()
    await fill(escapement.database, size, tell)
    if (keep !== undefined) fs.writeFileSync(noteOf(keep), JSON.stringify({ ...size, filledAt: Date.now() }))
  }
  const known = await readKnown(escapement.database, size)
  await escapement.close()
  return { server, known, close: () => server.remove() }
}

const noteOf = (keep: string) => path.join(keep, 'filled.json')

function isFresh(keep: string, size: FillSize): boolean {
  if (!fs.existsSync(noteOf(keep))) return false
  const { filledAt, ...filled } = JSON.parse(fs.readFileSync(noteOf(keep), 'utf8'))
  return JSON.stringify(filled) === JSON.stringify(size) && Date.now() - filledAt < FRESH_MS
}

async function readKnown(database: Escapement['database'], size: FillSize): Promise<Known> {
  const [row] = await database.query<Omit<Known, 'middleName' | 'openedAt'>>(
    `select s.name as schedule, s.id as "scheduleId", busy.id as "busyId", last.id as run, failed.id as "failedRun", filled.at as "filledAt"
     from escapement.schedules as s
     cross join lateral (
       select r.id from escapement.runs_asked as r join escapement.runs_ended as e on e.id = r.id
       where r.schedule_id = s.id and e.state = 'succeeded' order by coalesce(plan_time, created_at) desc limit 1
     ) as last
     cross join (select id from escapement.runs_ended where state = 'failed' order by finished_at desc limit 1) as failed
     cross join (select max(finished_at) as at from escapement.runs_ended where state = 'succeeded') as filled
     cross join (select id from escapement.schedules where name = $1) as busy
     where s.name > 'report:' and s.state = 'active' order by s.name limit 1`,
    [BUSY[0]],
  )
  const [middle] = await database.query<{ name: string }>(
    'select name from escapement.schedules order by name offset $1 limit 1',
    [Math.floor(size.schedules / 2)],
  )
  return { ...row!, middleName: middle!.name, openedAt: new Date() }
}

export interface RunningServer {
  url: string
  token: string
  close(): Promise<void>
}

export async function startServer(database: string): Promise<RunningServer> {
  const script = fileURLToPath(new URL('server.mjs', import.meta.url))
  const child = spawn(process.execPath, [script, database, ...JOBS], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [unknown]
  if (typeof line !== 'string') throw new Error(`The server ended with ${line}.`)
  const onExit = () => child.kill('SIGKILL')
  process.once('exit', onExit)
  return {
    ...JSON.parse(line),
    async close() {
      child.stdin.end()
      await ended
      process.off('exit', onExit)
    },
  }
}
