import { createHash } from 'node:crypto'
import fs from 'node:fs/promises'
import { EscapementError } from '../errors.js'
import type { Database, Queryable } from './database.js'
import { quoteIdentifier } from './store.js'

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

export async function migrate(
  database: Database,
  schema: string,
  options: { dryRun?: boolean } = {},
): Promise<MigrationReport> {
  const known = await readMigrations(schema)
  const planned = await planMigrations(database, schema, known)
  if (options.dryRun || planned.migrations.length === 0) return planned
  try {
    return await database.transaction(async (tx) => {
      await tx.query('select pg_advisory_xact_lock($1::bigint)', [lockKey(schema)])
      const report = await planMigrations(tx, schema, known)
      if (report.from === 0) await tx.script(bootstrap(schema))
      for (const { number, name, sql } of report.migrations) {
        await tx.script(sql)
        await tx.query(`insert into ${quoteIdentifier(schema)}.migrations (number, name) values ($1, $2)`, [
          number,
          name,
        ])
      }
      return report
    })
  } catch (error) {
    throw explain(error, schema)
  }
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
  return `
    create schema if not exists ${quoted};
    create table if not exists ${quoted}.migrations (
      number integer primary key,
      name text not null,
      applied_at timestamptz(3) not null default clock_timestamp()
    );`
}

async function readMigrations(schema: string): Promise<Migration[]> {
  const files = (await fs.readdir(MIGRATIONS)).filter((file) => file.endsWith('.sql')).sort()
  return Promise.all(
    files.map(async (file) => {
      const text = await fs.readFile(new URL(file, MIGRATIONS), 'utf8')
      return {
        number: Number.parseInt(file, 10),
        name: file.replace(/\.sql$/, ''),
        sql: text.replaceAll('{schema}', quoteIdentifier(schema)),
      }
    }),
  )
}

/** One lock per schema; advisory locks are numbers that all programs of a database share, hence the hash. */
function lockKey(schema: string): string {
  return createHash('sha256').update(`escapement migrate ${schema}`).digest().readBigInt64BE().toString()
}

function explain(error: unknown, schema: string): unknown {
  if ((error as { code?: string }).code !== '42501') return error
  return new EscapementError('database_unusable', {
    message: `This database user may not create the schema "${schema}" or tables in it. Run "escapement migrate" as one who may, or: grant create on database … to …`,
    details: { schema },
    cause: error,
  })
}
