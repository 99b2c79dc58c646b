/** PostgreSQL, the processes of the system, and a proxy before each of them, in a folder that keeps what happened. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { type PostgresServer, startPostgres } from '../support/postgres-server.js'
import { SHORT_LIVED } from '../support/short-lived.js'
import { type FaultProxy, openFaultProxy } from './proxy.js'
import { mountSmallDisk, type SmallDisk } from './small-disk.js'

/** One place in the system: when its process dies, another takes it, with the same proxy. */
export interface Node {
  readonly name: string
  readonly proxy: FaultProxy
  /** Whether it is to be there: a watch brings dead ones back. */
  isWanted: boolean
  dist: string
  clockAheadMs: number
  readonly starts: number
  signal(signal: NodeJS.Signals): void
  stepClock(aheadMs: number): void
  /** Ends it, and resolves when it is gone. */
  kill(): Promise<void>
  /** Asks it to stop; null where it does not within the time. */
  stop(withinMs: number): Promise<number | null>
}

export interface World {
  readonly server: PostgresServer
  readonly nodes: readonly Node[]
  /** For the users, whose connections break as well. */
  readonly userProxy: FaultProxy
  /** Where the database is, if it can be filled. */
  readonly disk: SmallDisk | null
  readonly folder: string
  readonly witnesses: readonly string[]
  /** Starts the server again where it was stopped, however long its remains are in the way. */
  bringServerBack(): Promise<void>
  /** One statement on a connection of its own, past all proxies. */
  query<Row = Record<string, unknown>>(text: string, params?: unknown[]): Promise<Row[]>
  close(): Promise<void>
}

export interface WorldSettings {
  nodes: number
  dist: string
  folder: string
  seed: number
  /** Gives the database a disk that can be filled, where this machine lets us. */
  hasSmallDisk: boolean
}

/** Connections for all pools of all processes, with little to spare. */
const MAX_CONNECTIONS = 40
const program = fileURLToPath(new URL('node-process.mjs', import.meta.url))
const clock = new URL('shifted-clock.mjs', import.meta.url).href
/** Each is wrong in its own way. */
const AHEAD_MS = [600_000, -600_000, 0, 90_000]

export async function createWorld(settings: WorldSettings): Promise<World> {
  const { nodes: count, dist, folder, seed } = settings
  fs.mkdirSync(folder, { recursive: true })
  const disk = settings.hasSmallDisk ? mountSmallDisk() : null
  const server = await startServer(count, disk)
  const witnesses: string[] = []
  const nodes: Node[] = []
  let isClosing = false

  async function query<Row>(text: string, params: unknown[] = []): Promise<Row[]> {
    const client = new pg.Client({ connectionString: server.url, connectionTimeoutMillis: 5_000 })
    client.on('error', () => {})
    try {
      await client.connect()
      return (await client.query(text, params)).rows as Row[]
    } finally {
      await client.end().catch(() => {})
    }
  }

  async function createNode(index: number): Promise<Node> {
    const proxy = await openFaultProxy(server.url)
    const log = fs.openSync(path.join(folder, `node-${index}.log`), 'a')
    let child: ChildProcess
    let starts = 0
    function launch(): void {
      const witness = path.join(folder, `witness-${index}-${starts++}.jsonl`)
      witnesses.push(witness)
      const facts = { dist: node.dist, database: proxy.url, direct: server.url, witness, seed }
      child = spawn(process.execPath, [...SHORT_LIVED, '--import', clock, program, JSON.stringify(facts)], {
        env: { ...process.env, CLOCK_AHEAD_MS: String(node.clockAheadMs) },
        stdio: ['ignore', log, log, 'ipc'],
      })
      child.on('error', () => {})
      const own = child
      own.once('exit', async (code, signal) => {
        fs.writeSync(log, `-- ended: ${code ?? signal}\n`)
        // One that could not start, as the database was away, would else be started without end.
        if (signal === null) await sleep(500)
        if (node.isWanted && !isClosing && child === own) launch()
      })
    }
    const isGone = () => child.exitCode !== null || child.signalCode !== null
    const node: Node = {
      name: `node-${index}`,
      proxy,
      isWanted: true,
      dist,
      clockAheadMs: AHEAD_MS[index % AHEAD_MS.length]!,
      get starts() {
        return starts
      },
      signal: (signal) => void child.kill(signal),
      stepClock(aheadMs) {
        node.clockAheadMs = aheadMs
        if (child.connected) child.send({ clockAheadMs: aheadMs }, () => {})
      },
      async kill() {
        if (isGone()) return
        const ended = once(child, 'exit')
        child.kill('SIGKILL')
        await ended
      },
      async stop(withinMs) {
        node.isWanted = false
        if (isGone()) return child.exitCode
        const ended = once(child, 'exit').then(([code]) => code as number | null)
        child.kill('SIGTERM')
        return Promise.race([ended, sleep(withinMs, null, { ref: false })])
      },
    }
    launch()
    return node
  }

  const userProxy = await openFaultProxy(server.url)
  await query(TABLES)
  // All at once on an empty database: they race for the migrations too.
  for (const node of await Promise.all(Array.from({ length: count }, (_, index) => createNode(index)))) {
    nodes.push(node)
  }
  const onExit = () => {
    for (const node of nodes) node.signal('SIGKILL')
  }
  process.once('exit', onExit)

  return {
    server,
    nodes,
    userProxy,
    disk,
    folder,
    witnesses,
    query,
    async bringServerBack() {
      const until = Date.now() + 60_000
      for (;;) {
        try {
          return await server.restart()
        } catch (error) {
          // The processes of one that was killed hold its memory until they have noticed.
          if (Date.now() > until) throw error
          await sleep(200)
        }
      }
    },
    async close() {
      isClosing = true
      process.off('exit', onExit)
      for (const node of nodes) {
        node.isWanted = false
        await node.kill()
        await node.proxy.close()
      }
      await userProxy.close()
      await server.remove()
      disk?.unmount()
    },
  }
}

/** In the temporary folder, or on the disk of its own. */
async function startServer(count: number, disk: SmallDisk | null): Promise<PostgresServer> {
  const settings = [
    `max_connections=${MAX_CONNECTIONS + count * 25}`,
    'shared_buffers=64MB',
    'max_wal_size=64MB',
  ]
  if (disk === null) return startPostgres({ fsync: true, settings })
  const { TMPDIR } = process.env
  process.env.ESCAPEMENT_TEST_BINARIES ??= os.tmpdir()
  process.env.TMPDIR = disk.folder
  try {
    return await startPostgres({ fsync: true, settings })
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  }
}

/** What belongs to the users; a trigger of theirs is the witness of what happened to their rows. */
const TABLES = `
  create table public.posts (id text primary key, status text not null default 'draft', publish_at timestamptz, archive_at timestamptz);
  create table public.outbox (post text, field text, at timestamptz default clock_timestamp());
  create table public.seen (post text, before text, after text, at timestamptz default clock_timestamp());
  create table public.tally (run uuid, attempt int);
  create function public.see() returns trigger language plpgsql as $$
  begin
    insert into public.seen (post, before, after) values (old.id, old.status, new.status);
    return null;
  end $$;
  create trigger see after update on public.posts for each row execute function public.see();
`
