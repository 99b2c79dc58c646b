import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { dueConditions } from '../../transitions/due-predicate.js'
import type { SweptField, SweptTable } from '../../transitions/table.js'
import type { Database, Queryable } from '../database.js'
import type { Session } from '../store.js'
import { conditionsSql, literalSql, nameSql, relationSql } from '../table-sql.js'

/** PostgreSQL cuts longer names. */
const LONGEST_NAME_BYTES = 63
const LOOK_AGAIN_MS = 200

export interface DueIndex {
  field: string
  name: string
  /** What creates it, but for the beginning. */
  definition: string
}

type Indexed = Pick<SweptTable, 'schema' | 'table' | 'softDelete' | 'targets'>

/** Its name holds a hash of its table and what it covers: an index of that name is one of that declaration. */
export function dueIndex(table: Indexed, field: Pick<SweptField, 'name' | 'action'>): DueIndex {
  const covers = `(${nameSql(field.name)}) where ${conditionsSql(table, dueConditions(field, table.softDelete), nameSql)}`
  const hash = createHash('sha256').update(`${table.table} ${covers}`).digest('hex').slice(0, 8)
  const name = `${cutToBytes(`${table.table}_${field.name}`, LONGEST_NAME_BYTES - '_due_'.length - hash.length)}_due_${hash}`
  return { field: field.name, name, definition: `${nameSql(name)} on ${relationSql(table)} ${covers}` }
}

function cutToBytes(text: string, most: number): string {
  let cut = text
  while (Buffer.byteLength(cut) > most) cut = cut.slice(0, -1)
  return cut.toWellFormed()
}

export const createIndexSql = ({ definition }: DueIndex) => `create index concurrently ${definition}`

export type IndexState = 'valid' | 'invalid' | 'missing'

/** Of each index, whether it is there and whole. */
export async function readIndexStates(
  session: Pick<Session, 'query'>,
  table: Pick<SweptTable, 'schema' | 'table'>,
  indexes: readonly DueIndex[],
): Promise<Map<DueIndex, IndexState>> {
  const rows = await session.query<{ name: string; is_valid: boolean }>(
    `select i.relname::text as name, x.indisvalid as is_valid
     from pg_index as x join pg_class as i on i.oid = x.indexrelid
     join pg_class as c on c.oid = x.indrelid join pg_namespace as n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relname = $2 and i.relname = any($3)`,
    [table.schema, table.table, indexes.map(({ name }) => name)],
  )
  const found = new Map(rows.map(({ name, is_valid }) => [name, is_valid ? 'valid' : 'invalid'] as const))
  return new Map(indexes.map((index) => [index, found.get(index.name) ?? 'missing']))
}

/**
 * Builds those that are not there, one after the other, and builds anew what was left half-built. On a server nobody who
 * writes waits for it.
 *
 * Processes that start together take turns by a lock that is tried and not waited for: a session that waits has a snapshot, for
 * which the build of another would wait in turn.
 */
export async function buildIndexes(
  database: Database,
  table: Pick<SweptTable, 'schema' | 'table'>,
  indexes: readonly DueIndex[],
): Promise<void> {
  if (database.kind === 'pglite') {
    for (const { definition } of indexes) await database.query(`create index if not exists ${definition}`)
    return
  }
  await database.session(async (session) => {
    const lock = literalSql(`escapement indexes ${table.schema}.${table.table}`)
    const lockKey = `hashtextextended(${lock}, 0)`
    while (!(await isTrue(session, `pg_try_advisory_lock(${lockKey})`))) await sleep(LOOK_AGAIN_MS)
    try {
      await session.query(
        `select set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false)`,
      )
      for (const [index, state] of await readIndexStates(session, table, indexes)) {
        if (state === 'valid') continue
        if (state === 'invalid') {
          await session.query(
            `drop index concurrently if exists ${nameSql(table.schema)}.${nameSql(index.name)}`,
          )
        }
        await session.query(createIndexSql(index))
      }
    } finally {
      // A connection that broke has let go of all of it, and what broke it is the error to tell.
      const undo = ['reset statement_timeout', 'reset lock_timeout', `select pg_advisory_unlock(${lockKey})`]
      for (const statement of undo) await session.query(statement).catch(() => {})
    }
  })
}

async function isTrue(session: Queryable, expression: string): Promise<boolean> {
  const [row] = await session.query<{ is: boolean }>(`select ${expression} as is`)
  return row?.is ?? false
}

const WAKE_TRIGGER = 'escapement_wake_sweepers'

/** Lets statements that write due columns wake the sweepers. Nothing is locked where the trigger is there already. */
export async function installWakeTrigger(session: Session, schema: string, table: SweptTable): Promise<void> {
  const columns = table.fields.map(({ name }) => name)
  const [found] = await session.query(
    `select from pg_trigger as t join pg_class as c on c.oid = t.tgrelid join pg_namespace as n on n.oid = c.relnamespace
     join pg_proc as p on p.oid = t.tgfoid join pg_namespace as own on own.oid = p.pronamespace
     where n.nspname = $1 and c.relname = $2 and t.tgname = $3 and own.nspname = $4 and $5::text[] = array(
       select a.attname::text from unnest(t.tgattr) as k (attnum)
       join pg_attribute as a on a.attrelid = t.tgrelid and a.attnum = k.attnum order by a.attname collate "C")`,
    [table.schema, table.table, triggerName(schema), schema, [...columns].sort()],
  )
  if (found) return
  await session.query(
    `create or replace trigger ${nameSql(triggerName(schema))} after insert or update of ${columns.map(nameSql).join(', ')}
     on ${relationSql(table)} for each statement execute function {schema}.wake_sweepers()`,
  )
}

/** Two systems on one database have a trigger each. */
function triggerName(schema: string): string {
  return schema === 'escapement' ? WAKE_TRIGGER : cutToBytes(`${WAKE_TRIGGER}_${schema}`, LONGEST_NAME_BYTES)
}
