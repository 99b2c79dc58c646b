/** PostgreSQL, the processes of the system, and a proxy before each of them, in a folder that keeps what happened. */
import fs from 'node:fs'
import os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type PostgresServer, startPostgres } from '../support/postgres-server.js'
import { type Node, startNode } from './node.js'
import { type PgBouncer, startPgBouncer } from './pgbouncer.js'
import { type FaultProxy, openFaultProxy } from './proxy.js'
import { mountSmallDisk, type SmallDisk } from './small-disk.js'

export interface World {
  readonly server: PostgresServer
  readonly nodes: readonly Node[]
  /** For the users, whose connections break as well. */
  readonly userProxy: FaultProxy
  /** Where the database is, if it can be filled. */
  readonly disk: SmallDisk | null
  /** Null where it is not installed. */
  readonly bouncer: PgBouncer | null
  readonly folder: string
  /** How often PostgreSQL was stopped or killed, and started again. */
  readonly restarts: number
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
/** Every third one is behind PgBouncer, if there is one. */
const isBehindBouncer = (index: number) => index % 3 === 1

export async function createWorld(settings: WorldSettings): Promise<World> {
  const { nodes: count, dist, folder, seed } = settings
  fs.mkdirSync(folder, { recursive: true })
  const disk = settings.hasSmallDisk ? mountSmallDisk() : null
  const server = await startServer(count, disk)
  const bouncer = await startPgBouncer(server.url, folder)
  let restarts = 0

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

  const userProxy = await openFaultProxy(server.url)
  await query(TABLES)
  // All at once on an empty database: they race for the migrations too.
  const nodes = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      startNode({
        index,
        dist,
        folder,
        seed,
        direct: server.url,
        pooler: bouncer !== null && isBehindBouncer(index) ? bouncer.url : null,
      }),
    ),
  )
  const onExit = () => {
    for (const node of nodes) node.signal('SIGKILL')
  }
  process.once('exit', onExit)

  return {
    server,
    nodes,
    userProxy,
    disk,
    bouncer,
    folder,
    get restarts() {
      return restarts
    },
    query,
    async bringServerBack() {
      const until = Date.now() + 60_000
      for (;;) {
        try {
          await server.restart()
          restarts += 1
          return
        } catch (error) {
          // The processes of one that was killed hold its memory until they have noticed.
          if (Date.now() > until) throw error
          await sleep(200)
        }
      }
    },
    async close() {
      process.off('exit', onExit)
      for (const node of nodes) {
        node.isWanted = false
        await node.kill()
        await node.proxy.close()
      }
      await userProxy.close()
      await bouncer?.kill()
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
