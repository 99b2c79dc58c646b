/**
 * The statements of a sweep. In each of them `r` is a row of the declared table.
 *
 * A batch is found and locked by one statement and looked at by a second: a row that was changed and let go of by somebody else
 * in between is locked in its newest version, but beside it the first statement sees the log as it was before. From the
 * second on nobody else can touch these rows, and `ctid` names them.
 */
import type { LockedRow } from '../../transitions/plan.js'
import type { SweptTable } from '../../transitions/table.js'
import { NOW, type Session } from '../store.js'
import { columnSql, dueSql, isDeletedSql, isOpenSql, matchesSql, relationSql } from '../table-sql.js'

const CLOCK = `clock as materialized (select ${NOW} as now)`
const AT = '(select now from clock)'

/** Milliseconds until a row of the table is due: 0 when there is one, null when none is to come. */
export async function msUntilDue(session: Session, table: SweptTable): Promise<number | null> {
  const [row] = await session.query<{ ms: number | null }>(msUntilDueSql(table), [session.now()])
  return row?.ms ?? null
}

function msUntilDueSql(table: SweptTable): string {
  const first = (what: string, field: SweptTable['fields'][number], condition: string) =>
    `(select ${what} from ${relationSql(table)} as r
      where ${dueSql(table, field)} and ${condition} order by ${columnSql(field.name)} limit 1)`
  const due = table.fields.map((field) =>
    first('true', field, `${columnSql(field.name)} <= ${AT} and ${isOpenSql(table, field)}`),
  )
  const coming = table.fields.map((field) => {
    const column = columnSql(field.name)
    return first(column, field, `${column} > ${AT} and ${column} < 'infinity'`)
  })
  return `with ${CLOCK}
    select case when ${due.map((found) => `coalesce(${found}, false)`).join('\n or ')} then 0
      else ceil(extract(epoch from least(${coming.join(',\n')}) - ${AT}) * 1000)::float8 end as ms`
}

export interface LockedTuple {
  tableoid: number
  tid: string
}

/**
 * Locks up to `limit` rows that are due, those that have waited longest first; rows that somebody else has locked are passed
 * over. Of each field as many are locked as all of them may be: which are the first of all is known only then.
 */
export function lockDueRows(session: Session, table: SweptTable, limit: number): Promise<LockedTuple[]> {
  return session.query<LockedTuple>(lockDueRowsSql(table), [session.now(), limit])
}

function lockDueRowsSql(table: SweptTable): string {
  // Foreign keys that point at a row do not mind its update, but its deletion.
  const strength = table.fields.some(({ action }) => action.action === 'hardDelete')
    ? 'update'
    : 'no key update'
  const branches = table.fields.map((field, index) => {
    const due = columnSql(field.name)
    return `select * from (
      select r.tableoid, r.ctid as tid, ${due} as due_at from ${relationSql(table)} as r
      where ${dueSql(table, field)} and ${due} <= ${AT} and ${isOpenSql(table, field)}
      order by ${due} limit $2 for ${strength} of r skip locked
    ) as field_${index}`
  })
  return `with ${CLOCK}
    select c.tableoid, c.tid::text as tid from (${branches.join('\nunion all\n')}) as c
    group by c.tableoid, c.tid order by min(c.due_at), c.tableoid, c.tid limit $2`
}

export interface ReadRow extends LockedRow, LockedTuple {}

/** What there is to know of rows that are locked, in their order, and the instant at which all that is decided. */
export async function readLockedRows(
  session: Session,
  table: SweptTable,
  tuples: readonly LockedTuple[],
): Promise<{ rows: ReadRow[]; now: Date | null }> {
  const found = await session.query<{
    ordinal: number
    now: Date
    due: string
    matches: string
    is_deleted: boolean
  }>(readLockedRowsSql(table), [
    session.now(),
    tuples.map(({ tableoid }) => tableoid),
    tuples.map(({ tid }) => tid),
  ])
  const rows = found.map(({ ordinal, due, matches, is_deleted }) => ({
    ...tuples[ordinal - 1]!,
    due: due === '' ? [] : due.split(',').map(Number),
    matches: [...matches].map((letter) => letter === 't'),
    isDeleted: is_deleted,
  }))
  return { rows, now: found[0]?.now ?? null }
}

function readLockedRowsSql(table: SweptTable): string {
  const fields = table.fields.map(
    (field, index) => `(${index}, ${columnSql(field.name)}, ${isOpenSql(table, field)})`,
  )
  // Lists as short texts: reading arrays took longer than all else here.
  const matches = table.fields.map((field) => `case when ${matchesSql(table, field)} then 't' else 'f' end`)
  return `with ${CLOCK}
    select l.ordinal, ${AT} as now, ${matches.join(' || ')} as matches, ${isDeletedSql(table)} as is_deleted,
      array_to_string(array(
        select f.field from (values ${fields.join(',\n')}) as f (field, due_at, is_open)
        where f.is_open and f.due_at <= ${AT} order by f.due_at, f.field
      ), ',') as due
    from unnest($2::oid[], $3::tid[]) with ordinality as l (tableoid, tid, ordinal)
    join ${relationSql(table)} as r on r.ctid = l.tid and r.tableoid = l.tableoid
    order by l.ordinal`
}
