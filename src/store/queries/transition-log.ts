import type { SweptField, SweptTable } from '../../transitions/table.js'
import { NOW, type Session } from '../store.js'
import { columnSql, dueSql, HASHED_KEY, isOpenSql, keyIs, ROW_VERSION, relationSql } from '../table-sql.js'

export interface FieldCounts {
  field: string
  due: number
  next_due_at: Date | null
  quarantined: number
}

/** What is to be done by each field: what is due, when the next is, and what was set aside. */
export function countFields(session: Session, table: SweptTable): Promise<FieldCounts[]> {
  const relation = relationSql(table)
  const counts = table.fields.map((field, index) => {
    const due = columnSql(field.name)
    return `select ${index} as place, $2::text[] as names,
      (select count(*) from ${relation} as r
       where ${dueSql(table, field)} and ${due} <= (select now from clock) and ${isOpenSql(table, field)}) as due,
      (select ${due} from ${relation} as r
       where ${dueSql(table, field)} and ${due} > (select now from clock) and ${due} < 'infinity' order by ${due} limit 1) as next_due_at,
      (select count(*) from ${SET_ASIDE} as q
       where q.field_id = ${field.id} and q.readable is not null and ${isStillSetAside(table, field)}) as quarantined`
  })
  return session.query<FieldCounts>(
    `with clock as materialized (select ${NOW} as now)
     select c.names[c.place + 1] as field, c.due, c.next_due_at, c.quarantined
     from (${counts.join('\nunion all\n')}) as c order by c.place`,
    [session.now(), table.fields.map(({ name }) => name)],
  )
}

const readable = (key: string) => `case when ${key} like '${HASHED_KEY}%' then null else ${key} end`
const SET_ASIDE = `(select *, ${readable('key')} as readable from {schema}.transition_quarantine)`

function isStillSetAside(table: SweptTable, field: SweptField): string {
  return `(select true from ${relationSql(table)} as r
    where ${keyIs(table, 'q.readable')} and ${columnSql(field.name)} = q.due_at and ${ROW_VERSION} = q.row_version) is not null`
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
export async function pruneLog(
  session: Session,
  table: SweptTable,
  field: SweptField,
  { after, limit, retentionMs }: { after: LogPosition | null; limit: number; retentionMs: number },
): Promise<LogPosition | null> {
  const [row] = await session.query<{ key: string | null; due_at: string | null; looked_at: number }>(
    `with slice as materialized (
       select key, due_at, applied_at, ${readable('key')} as readable from {schema}.transition_log
       where field_id = $2 and (key, due_at) > ($3, $4::timestamptz) order by key, due_at limit $5
     ),
     pruned as (
       delete from {schema}.transition_log as l using slice as s
       where l.field_id = $2 and l.key = s.key and l.due_at = s.due_at and s.readable is not null
         and s.applied_at < (select ${NOW}) - $6 * interval '1 millisecond'
         and (select true from ${relationSql(table)} as r
           where ${keyIs(table, 's.readable')} and ${columnSql(field.name)} = s.due_at) is null
     )
     select (select count(*) from slice) as looked_at, last.key, last.due_at::text as due_at
     from (select 1) as one left join (select key, due_at from slice order by key desc, due_at desc limit 1) as last on true`,
    [session.now(), field.id, after?.key ?? '', after?.dueAt ?? '-infinity', limit, retentionMs],
  )
  if (!row || row.looked_at < limit) return null
  return { key: row.key!, dueAt: row.due_at! }
}

/** Forgets what was set aside of rows that are gone, have another due time, or were edited since. */
export async function pruneQuarantine(session: Session, table: SweptTable, field: SweptField): Promise<void> {
  await session.query(
    `delete from {schema}.transition_quarantine as d using ${SET_ASIDE} as q
     where q.field_id = $1 and d.field_id = q.field_id and d.key = q.key and d.due_at = q.due_at
       and q.readable is not null and not ${isStillSetAside(table, field)}`,
    [field.id],
  )
}
