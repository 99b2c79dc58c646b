import { createHash } from 'node:crypto'
import fs from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../clock.js'
import { EscapementError } from '../errors.js'
import type { Database, Queryable } from './database.js'
import { explainMoved } from './moved.js'
import { isContended } from './refusal.js'
import { channelOf, quoteIdentifier, quoteLiteral } from './store.js'

/**
 * Migrations are the numbered files beside this one, applied in order, forward only, all in one transaction under
 * a lock: of any number of processes that start at the same instant one applies them, and the others find them done.
 * A database that is ahead of this program is refused: what it holds may mean something else by now.
 */
interface Migration {
  number: number
  name: string
  sql: string
}

export interface MigrationReport {
  schema: string
  /** The number of the newest migration in the database before this call; 0 for none. */
  from: number
  to: number
  /** What was applied, or with `dryRun` would be. */
  migrations: Migration[]
}

const MIGRATIONS = new URL('./migrations/', import.meta.url)

/**
 * Whoever waits for a lock on a table holds up all who come later, and half a second is less than it takes a server to look for a deadlock, in which
 * it would end one of them. So each try gives up soon, and lets the others through.
 */
const LOCK_TIMEOUT = '500ms'
const BETWEEN_TRIES_MS = 2_000
/** A report or a dump may take as long. */
const PATIENCE_MS = 10 * 60_000

export async function migrate(
  database: Database,
  schema: string,
  { dryRun = false, patienceMs = PATIENCE_MS }: { dryRun?: boolean; patienceMs?: number } = {},
): Promise<MigrationReport> {
  const known = await readMigrations(schema)
  try {
    const planned = await planMigrations(database, schema, known)
    if (dryRun || planned.migrations.length === 0) return planned
    const apply = () =>
      database.transaction(async (tx) => {
        await tx.query('select pg_advisory_xact_lock($1::bigint)', [lockKey(schema)])
        const report = await planMigrations(tx, schema, known)
        await tx.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`)
        if (report.migrations.length > 0) await tx.script(statementsOf(report))
        return report
      })
    for (const deadline = monotonicMs() + patienceMs; ; ) {
      try {
        return await apply()
      } catch (error) {
        if (!isContended(error)) throw error
        if (monotonicMs() > deadline) throw await blocked(database, schema, error)
      }
      await sleep(BETWEEN_TRIES_MS)
    }
  } catch (error) {
    throw explain(error, schema)
  }
}

/** Says who is in the way: mostly somebody's open transaction. */
async function blocked(database: Database, schema: string, cause: unknown): Promise<EscapementError> {
  const holders = await database.query<{ pid: number; name: string | null; since: Date | null }>(
    `select a.pid, nullif(a.application_name, '') as name, min(a.xact_start) as since
     from pg_locks as l
     join pg_class as c on c.oid = l.relation
     join pg_namespace as n on n.oid = c.relnamespace
     join pg_stat_activity as a on a.pid = l.pid
     where n.nspname = $1 and l.granted and a.datname = current_database() and a.pid <> pg_backend_pid()
     group by a.pid, name order by since limit 5`,
    [schema],
  )
  const told = holders.map(({ pid, name, since }) =>
    [`process ${pid}`, name && `"${name}"`, since && `since ${since.toISOString()}`]
      .filter(Boolean)
      .join(' '),
  )
  return new EscapementError('database_unusable', {
    message: `The schema "${schema}" could not be migrated: others have its tables open (${told.join(', ') || 'nobody does any more'}). Let them end, or end them with select pg_terminate_backend(…), and migrate again.`,
    details: { schema, pids: holders.map(({ pid }) => pid) },
    cause,
  })
}

let newestKnown: Promise<number> | undefined

/** The number of the newest migration that this program has: exports of another cannot be read. */
export function newestMigration(): Promise<number> {
  newestKnown ??= readMigrations('').then((known) => known.at(-1)?.number ?? 0)
  return newestKnown
}

/** The number of the newest migration that the schema has, and of the newest that this program knows. */
export async function readSchemaLevels(
  queryable: Queryable,
  schema: string,
): Promise<{ applied: number; known: number }> {
  return { known: await newestMigration(), applied: await appliedThrough(queryable, schema) }
}

/** How the schema compares with what this program works with. Cheap enough to be asked by probes. */
export async function readSchemaState(
  queryable: Queryable,
  schema: string,
): Promise<'current' | 'outdated' | 'newer'> {
  const { applied, known } = await readSchemaLevels(queryable, schema)
  if (applied === known) return 'current'
  return applied < known ? 'outdated' : 'newer'
}

/** All that a migration runs, as one script: for running it, and for showing it first. */
export function statementsOf({ schema, from, migrations }: MigrationReport): string {
  const record = ({ number, name }: Migration) =>
    `insert into ${quoteIdentifier(schema)}.migrations (number, name) values (${number}, '${name}');`
  const each = migrations.map((migration) => `${migration.sql}\n${record(migration)}`)
  return [...(from === 0 ? [bootstrap(schema)] : []), ...each].join('\n\n')
}

async function planMigrations(
  queryable: Queryable,
  schema: string,
  known: readonly Migration[],
): Promise<MigrationReport> {
  const from = await appliedThrough(queryable, schema)
  const to = known.at(-1)?.number ?? 0
  if (from > to) {
    throw new EscapementError('schema_newer', {
      message: `The schema "${schema}" was migrated to version ${from} by a newer Escapement; this one knows version ${to}. Upgrade this program, or point it at another schema.`,
      details: { schema, found: from, known: to },
    })
  }
  return { schema, from, to, migrations: known.filter(({ number }) => number > from) }
}

async function appliedThrough(queryable: Queryable, schema: string): Promise<number> {
  const table = `${quoteIdentifier(schema)}.migrations`
  // Not to_regclass: it may answer from the session's cache, which a wait for an advisory lock does not refresh.
  const [found] = await queryable.query(
    `select 1 from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where nspname = $1 and relname = 'migrations'`,
    [schema],
  )
  if (!found) return 0
  const [newest] = await queryable.query<{ number: number | null }>(
    `select max(number) as number from ${table}`,
  )
  return newest?.number ?? 0
}

function bootstrap(schema: string): string {
  const quoted = quoteIdentifier(schema)
  return `create schema if not exists ${quoted};

create table if not exists ${quoted}.migrations (
  number integer primary key,
  name text not null,
  applied_at timestamptz(3) not null default clock_timestamp()
);`
}

async function readMigrations(schema: string): Promise<Migration[]> {
  const values = { schema: quoteIdentifier(schema), channel: quoteLiteral(channelOf(schema)) }
  const files = (await fs.readdir(MIGRATIONS)).filter((file) => file.endsWith('.sql')).sort()
  return Promise.all(
    files.map(async (file) => {
      const text = await fs.readFile(new URL(file, MIGRATIONS), 'utf8')
      return {
        number: Number.parseInt(file, 10),
        name: file.replace(/\.sql$/, ''),
        // In one pass, and by a function: a name may hold what looks like a placeholder.
        sql: text.replace(/\{(schema|channel)\}/g, (_, name: keyof typeof values) => values[name]),
      }
    }),
  )
}

/** One lock per schema; advisory locks are numbers that all programs of a database share, hence the hash. */
function lockKey(schema: string): string {
  return createHash('sha256').update(`escapement migrate ${schema}`).digest().readBigInt64BE().toString()
}

function explain(refused: unknown, schema: string): unknown {
  const error = explainMoved(refused)
  const { code, message } = error as { code?: string; message?: string }
  if (code === '42501') {
    return new EscapementError('database_unusable', {
      message: `This database user may not use the schema "${schema}" (${message}). Run "escapement migrate" as one who may, or grant it: grant create on database … to …`,
      details: { schema },
      cause: error,
    })
  }
  // Undefined column, duplicate table: the schema holds tables of our names that are not ours.
  if (code === '42703' || code === '42P07') {
    return new EscapementError('database_unusable', {
      message: `The schema "${schema}" holds something else by the names of our tables (${message}). Choose another with the option schema.`,
      details: { schema },
      cause: error,
    })
  }
  return error
}
