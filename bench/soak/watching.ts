/** What is seen of the database while the load is held, through a connection of its own: nobody is waited for. */
import pg from 'pg'

/** Rows come and go in the first three; the others are history, which only grows. */
export const PASSING = ['runs_open', 'lots', 'cursors'] as const
export const LASTING = ['runs_asked', 'runs_ended'] as const
type Table = (typeof PASSING)[number] | (typeof LASTING)[number]

export interface TableState {
  rows: number
  dead: number
  tableBytes: number
  indexBytes: number
}

export const sizeOf = ({ tableBytes, indexBytes }: TableState) => tableBytes + indexBytes

export interface DatabaseState {
  /** Runs and plan times that are due and that nobody has begun with. */
  backlog: number
  /** Runs that ever ended. */
  ended: number
  tables: Record<Table, TableState>
}

export interface Watcher {
  backlog(): Promise<number>
  look(): Promise<DatabaseState>
  /** Begins a transaction that sees what is there, and leaves it open; the answer ends it. */
  holdTransaction(): Promise<() => Promise<void>>
  count(text: string): Promise<number>
  close(): Promise<void>
}

export async function openWatcher(url: string): Promise<Watcher> {
  const client = await connect(url)
  const count = async (text: string) => Number((await client.query(text)).rows[0].count)
  return {
    count,
    backlog: () => count(BACKLOG),
    async look() {
      const backlog = await count(BACKLOG)
      const { rows } = await client.query(TABLES, [[...PASSING, ...LASTING]])
      const states = rows.map(({ name, ended: _, ...state }) => [name, state])
      const ended = rows.find(({ name }) => name === 'runs_ended').ended
      return { backlog, ended, tables: Object.fromEntries(states) }
    },
    async holdTransaction() {
      const stranger = await connect(url)
      await stranger.query('begin isolation level repeatable read')
      await stranger.query('select count(*) from escapement.runs_open')
      return () => stranger.end()
    },
    close: () => client.end(),
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  // A server that is stopped tells its clients; whoever asks next hears of it.
  client.on('error', () => {})
  await client.connect()
  return client
}

const BACKLOG = `
  select (select count(*) from escapement.runs_at_hand where state <> 'running' and eligible_at <= now())
    + (select count(*) from escapement.cursors where wake_at <= now()) as count`

const TABLES = `
  select relname as name, n_live_tup::float8 as rows, n_dead_tup::float8 as dead, n_tup_ins::float8 as ended,
    pg_table_size(relid)::float8 as "tableBytes", pg_indexes_size(relid)::float8 as "indexBytes"
  from pg_stat_user_tables where schemaname = 'escapement' and relname = any($1)`
