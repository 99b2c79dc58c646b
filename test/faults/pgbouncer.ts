import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from '../support/postgres-server.js'

/** A real PgBouncer in transaction mode between some of the processes and PostgreSQL. */
export interface PgBouncer {
  readonly url: string
  /** SIGKILL; it is away until it is started again. */
  kill(): Promise<void>
  start(): Promise<void>
  /** A word at its console, such as PAUSE. */
  command(text: string): Promise<void>
}

/** Fewer sessions than its clients have connections, and more than transactional handlers hold. */
const SESSIONS = 16
const STARTS_WITHIN_MS = 15_000

/** Null where the program is not installed. */
export async function startPgBouncer(serverUrl: string, folder: string): Promise<PgBouncer | null> {
  if (spawnSync('pgbouncer', ['--version'], { stdio: 'ignore' }).status !== 0) return null
  const server = new URL(serverUrl)
  const port = await freePort()
  const ini = path.join(folder, 'pgbouncer.ini')
  fs.writeFileSync(ini, settingsOf(server, port))
  const log = fs.openSync(path.join(folder, 'pgbouncer.log'), 'a')
  // As root it refuses to run, but for the moment in which it reads its settings.
  const identity = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  let child: ChildProcess | undefined
  const isUp = () => child !== undefined && child.exitCode === null && child.signalCode === null
  const at = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`
  process.once('exit', () => child?.kill('SIGKILL'))

  async function command(text: string): Promise<void> {
    const client = new pg.Client({ connectionString: at('pgbouncer'), connectionTimeoutMillis: 1_000 })
    client.on('error', () => {})
    try {
      await client.connect()
      // By the simple protocol, which is all that the console speaks. PAUSE waits for all transactions.
      await client.query({ text, query_timeout: 8_000 } as pg.QueryConfig)
    } finally {
      await client.end().catch(() => {})
    }
  }

  const bouncer: PgBouncer = {
    url: at(server.pathname.slice(1)),
    command,
    async kill() {
      if (!isUp()) return
      const ended = once(child!, 'exit')
      child!.kill('SIGKILL')
      await ended
    },
    async start() {
      if (isUp()) return
      child = spawn('pgbouncer', [...identity, ini], { stdio: ['ignore', log, log] })
      child.on('error', () => {})
      const until = Date.now() + STARTS_WITHIN_MS
      for (;;) {
        try {
          return await command('show version')
        } catch (error) {
          if (!isUp() || Date.now() > until)
            throw new Error(`PgBouncer did not start, see pgbouncer.log: ${(error as Error).message}`)
          await sleep(50)
        }
      }
    },
  }
  await bouncer.start()
  return bouncer
}

/** As somebody would set it who restarts servers: it looks for one that was away each second instead of every 15. */
function settingsOf(server: URL, port: number): string {
  const database = server.pathname.slice(1)
  return `[databases]
${database} = host=${server.hostname} port=${server.port} dbname=${database} user=${server.username}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
admin_users = ${server.username}
pool_mode = transaction
default_pool_size = ${SESSIONS}
max_client_conn = 200
server_login_retry = 1
`
}
