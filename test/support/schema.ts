import { onTestFinished } from 'vitest'
import type { Database } from '../../src/store/database.js'
import { migrate, readSchemaState } from '../../src/store/migrate.js'
import { freshSchemaName, sharedDatabase } from './database.js'

interface TestSchema {
  readonly name: string
  /** As they were made. */
  readonly tables: readonly string[]
  readonly shape: string | null
}

/** More than an empty schema takes; with less, what rows left behind tells the planner nothing. */
const MANY_BYTES = 2_000_000

const left = new WeakMap<Database, TestSchema[]>()

/**
 * The name of a schema with our tables, empty, for this test alone. Making them takes longer than most tests do, so one
 * test leaves its tables to the next: emptied, if they still are as they were made, and dropped if they were altered or
 * have grown. Whatever the test opens in it later is closed before.
 */
export async function useSchema(given?: Database): Promise<string> {
  const database = given ?? (await sharedDatabase())
  const schema = left.get(database)?.pop() ?? (await makeSchema(database))
  onTestFinished(() => leave(database, schema))
  return schema.name
}

async function makeSchema(database: Database): Promise<TestSchema> {
  const name = freshSchemaName()
  await migrate(database, name)
  const { tables, shape } = await lookAt(database, name)
  return { name, tables, shape }
}

async function leave(database: Database, schema: TestSchema): Promise<void> {
  const { name } = schema
  const { tables } = await lookAt(database, name)
  for (const table of tables.filter((table) => !schema.tables.includes(table))) {
    await database.query(`drop table if exists ${table} cascade`)
  }
  const { shape, bytes, sequences } = await lookAt(database, name)
  if (shape !== schema.shape || bytes > MANY_BYTES || (await readSchemaState(database, name)) !== 'current') {
    await database.query(`drop schema if exists "${name}" cascade`)
    return
  }
  const emptied = schema.tables.filter((table) => !table.endsWith('.migrations'))
  await database.transaction((tx) =>
    tx.script(`
      ${emptied.map((table) => `delete from ${table};`).join('\n')}
      insert into "${name}".control default values;
      ${sequences.map((sequence) => `select setval('${sequence}', 1, false);`).join('\n')}`),
  )
  left.set(database, [...(left.get(database) ?? []), schema])
}

interface Look {
  tables: string[]
  sequences: string[]
  bytes: number
  /** Of all that belongs to the tables: another, once any of it was altered. */
  shape: string | null
}

async function lookAt(database: Database, name: string): Promise<Look> {
  const [look] = await database.query<Look>(
    `with ours as (select xmin, oid, relname, relkind from pg_class where relnamespace = (select oid from pg_namespace where nspname = $1))
     select
       array(select format('%I.%I', $1::text, relname) from ours where relkind in ('r', 'p')) as tables,
       array(select format('%I.%I', $1::text, relname) from ours where relkind = 'S') as sequences,
       (select coalesce(sum(pg_relation_size(oid)), 0)::int from ours) as bytes,
       (select md5(string_agg(written, ',' order by written)) from (
          select concat(oid, ' ', xmin) as written from pg_namespace where nspname = $1
          union all select concat(oid, ' ', xmin) from ours
          union all select concat(attrelid, ' ', attnum, ' ', xmin) from pg_attribute where attrelid in (select oid from ours)
          union all select concat(oid, ' ', xmin) from pg_attrdef where adrelid in (select oid from ours)
          union all select concat(oid, ' ', xmin) from pg_constraint where conrelid in (select oid from ours)
          union all select concat(oid, ' ', xmin) from pg_trigger where tgrelid in (select oid from ours)
          union all select concat(oid, ' ', xmin) from pg_policy where polrelid in (select oid from ours)
          union all select concat(oid, ' ', xmin) from pg_proc where pronamespace = (select oid from pg_namespace where nspname = $1)
          union all select concat(oid, ' ', xmin) from pg_type where typnamespace = (select oid from pg_namespace where nspname = $1)
        ) as of_all) as shape`,
    [name],
  )
  return look!
}
