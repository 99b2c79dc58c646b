import type { SweptField, SweptTable } from '../../transitions/table.js'
import { isRefusal } from '../refusal.js'
import { NOW, readWithin, type Session, type Store } from '../store.js'
import {
  columnSql,
  dueSql,
  heldSql,
  isOpenSql,
  type KeyLookup,
  ROW_VERSION,
  relationSql,
} from '../table-sql.js'

export interface FieldCounts {
  field: string
  due: number
  next_due_at: Date | null
  quarantined: number
}

/** What is to be done by each field: what is due, when the next is, and what was set aside. */
export function countFields(store: Store, table: SweptTable): Promise<FieldCounts[]> {
  return byEitherLookup(store.transaction, (session, lookup) =>
    session.query<FieldCounts>(countFieldsSql(table, lookup), [
      session.now(),
      table.fields.map(({ name }) => name),
    ]),
  )
}

/** By the index of the key; where that cannot be, as a stored key is of another type than the key is now, by texts. */
async function byEitherLookup<T>(
  transaction: (work: (session: Session) => Promise<T>) => Promise<T>,
  work: (session: Session, lookup: KeyLookup) => Promise<T>,
): Promise<T> {
  try {
    return await transaction((session) => work(session, 'columns'))
  } catch (error) {
    if (!isRefusal(error)) throw error
    return transaction((session) => work(session, 'texts'))
  }
}

/** What is due when sweepers were away for long is not counted to its end: a page waits for it. */
const MOST_COUNTED = 10_000

function countFieldsSql(table: SweptTable, lookup: KeyLookup): string {
  const relation = relationSql(table)
  const counts = table.fields.map((field, index) => {
    const due = columnSql(field.name)
    return `select ${index} as place, $2::text[] as names,
      (select count(*) from (
         select from ${relation} as r
         where ${dueSql(table, field)} and ${due} <= (select now from clock) and ${isOpenSql(table, field)}
         order by ${due} limit ${MOST_COUNTED}
       ) as each) as due,
      (select ${due} from ${relation} as r
       where ${dueSql(table, field)} and ${due} > (select now from clock) and ${due} < 'infinity' order by ${due} limit 1) as next_due_at,
      (with ${setAsideSql(field)} select count(*) from (${stillSetAsideSql(table, field, lookup)}) as still) as quarantined`
  })
  return `with clock as materialized (select ${NOW} as now)
     select c.names[c.place + 1] as field, c.due, c.next_due_at, c.quarantined
     from (${counts.join('\nunion all\n')}) as c order by c.place`
}

const setAsideSql = ({ id }: SweptField) =>
  `set_aside as materialized (select key, due_at, row_version from {schema}.transition_quarantine where field_id = ${id})`

const stillSetAsideSql = (table: SweptTable, field: SweptField, lookup: KeyLookup) =>
  heldSql(table, field, { entries: 'set_aside', lookup, condition: `${ROW_VERSION} = e.row_version` })

export interface SetAside {
  /** Up to the bound. */
  rows: number
  key: string
  message: string
}

/**
 * Of a declared field, what is still set aside, as `countFields` has it: not rows that are gone or were edited since. Looks at
 * `most` entries, for `withinMs` at most; undefined where there are none.
 */
export function findSetAside(
  store: Store,
  table: SweptTable,
  field: SweptField,
  { most, withinMs }: { most: number; withinMs: number },
): Promise<SetAside | undefined> {
  const transaction = <T>(work: (session: Session) => Promise<T>) => readWithin(store, withinMs, work)
  return byEitherLookup(transaction, async (session, lookup) => {
    const [row] = await session.query<SetAside>(
      `with set_aside as materialized (
         select key, due_at, row_version from {schema}.transition_quarantine where field_id = $1 order by key, due_at limit $2
       ),
       still as materialized (${stillSetAsideSql(table, field, lookup)}),
       first as materialized (select key, due_at from still order by key, due_at limit 1)
       select (select count(*) from still) as rows, q.key, q.message
       from first join {schema}.transition_quarantine as q
         on q.field_id = $1 and q.key = first.key and q.due_at = first.due_at`,
      [field.id, most],
    )
    return row
  })
}

/** What is set aside of fields that are not among these, by their tables' names: nobody here can say whether it still is. */
export function listSetAsideElsewhere(
  session: Session,
  { fields, most }: { fields: readonly number[]; most: number },
): Promise<(SetAside & { table: string; field: string })[]> {
  return session.query(
    `select f.table_schema || '.' || f.table_name as table, f.field, counted.rows, first.key, first.message
     from {schema}.transition_fields as f
     cross join lateral (
       select key, message from {schema}.transition_quarantine where field_id = f.id order by key, due_at limit 1
     ) as first
     cross join lateral (
       select count(*) as rows from (select from {schema}.transition_quarantine where field_id = f.id limit $2) as each
     ) as counted
     where f.id <> all($1::int[]) order by f.id`,
    [fields, most],
  )
}

/** Lets all that was set aside be tried again. Returns how much that was. */
export async function releaseQuarantine(session: Session, fields: readonly number[]): Promise<number> {
  const rows = await session.query(
    'delete from {schema}.transition_quarantine where field_id = any($1) returning field_id',
    [fields],
  )
  return rows.length
}

export interface LogPosition {
  key: string
  dueAt: string
}

/**
 * Looks at a slice of a field's log and deletes what is older than it is to be kept and whose row is gone, or has another due
 * time by now. As long as the row has that due time its entry stays: it may yet be moved back. Returns where the slice
 * ended, null at the end of the log.
 */
export function pruneLog(
  store: Store,
  table: SweptTable,
  field: SweptField,
  { after, limit, retentionMs }: { after: LogPosition | null; limit: number; retentionMs: number },
): Promise<LogPosition | null> {
  return byEitherLookup(store.transaction, async (session, lookup) => {
    await session.query(SEE_ALL)
    const [row] = await session.query<{ key: string | null; due_at: string | null; looked_at: number }>(
      `with slice as materialized (
         select key, due_at, applied_at from {schema}.transition_log
         where field_id = $2 and (key, due_at) > ($3, $4::timestamptz) order by key, due_at limit $5
       ),
       old as materialized (
         select key, due_at from slice where applied_at < (select ${NOW}) - $6 * interval '1 millisecond'
       ),
       held as materialized (${heldSql(table, field, { entries: 'old', lookup })}),
       pruned as (
         delete from {schema}.transition_log as l using (table old except table held) as gone
         where l.field_id = $2 and l.key = gone.key and l.due_at = gone.due_at
       )
       select (select count(*) from slice) as looked_at, last.key, last.due_at::text as due_at
       from (select 1) as one left join (select key, due_at from slice order by key desc, due_at desc limit 1) as last on true`,
      [session.now(), field.id, after?.key ?? '', after?.dueAt ?? '-infinity', limit, retentionMs],
    )
    if (!row || row.looked_at < limit) return null
    return { key: row.key!, dueAt: row.due_at! }
  })
}

/** A row that policies hide looks as if it were gone: where there is one that may be hidden, the statement is refused (42501). */
const SEE_ALL = 'set local row_security = off'

/** Forgets what was set aside of rows that are gone, have another due time, or were edited since. */
export function pruneQuarantine(store: Store, table: SweptTable, field: SweptField): Promise<void> {
  return byEitherLookup(store.transaction, async (session, lookup) => {
    await session.query(SEE_ALL)
    await session.query(
      `with ${setAsideSql(field)},
       held as materialized (${stillSetAsideSql(table, field, lookup)})
       delete from {schema}.transition_quarantine as q
       using (select key, due_at from set_aside except table held) as gone
       where q.field_id = ${field.id} and q.key = gone.key and q.due_at = gone.due_at`,
    )
  })
}
