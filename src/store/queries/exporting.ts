import { CARRIED_ROWS, CARRIED_TABLES, type CarriedTable } from '../carried-tables.js'
import type { Session } from '../store.js'

/** Of one table, as the catalogue has them. */
export interface Column {
  /** Quoted where it must be. */
  name: string
  type: string
}

export async function readColumns(session: Session, schema: string): Promise<Map<string, Column[]>> {
  const rows = await session.query<Column & { table_name: string }>(
    `select c.relname as table_name, quote_ident(a.attname) as name, format_type(a.atttypid, a.atttypmod) as type
     from pg_attribute as a join pg_class as c on c.oid = a.attrelid join pg_namespace as n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
     order by c.relname, a.attnum`,
    [schema],
  )
  const columns = new Map<string, Column[]>()
  for (const { table_name, name, type } of rows) {
    columns.set(table_name, [...(columns.get(table_name) ?? []), { name, type }])
  }
  return columns
}

const carried = (table: CarriedTable) => `from {schema}.${table} as t where ${CARRIED_ROWS[table] ?? 'true'}`

/** Texts that mean the same in every database: nothing depends on how a session shows its values. */
export async function writePlainly(session: Session): Promise<void> {
  await session.query(`set local time zone 'UTC'`)
  await session.query('set local extra_float_digits = 1')
}

/** How many rows of each table an export carries. */
export async function countCarried(session: Session): Promise<Record<CarriedTable, number>> {
  const counts = CARRIED_TABLES.map((table) => `(select count(*) ${carried(table)}) as ${table}`)
  const [row] = await session.query<Record<CarriedTable, number>>(`select ${counts.join(', ')}`)
  return row!
}

/**
 * Begins to read a table, in the transaction of the session. Each row is a JSON text that is not to be read here: numbers are
 * longer in the database than a number of the host is. A column of JSON is a text within it: as JSON, its null and none
 * at all would be the same.
 */
export async function openRows(
  session: Session,
  table: CarriedTable,
  columns: readonly Column[],
): Promise<void> {
  const list = columns.map(({ name, type }) => (type === 'jsonb' ? `${name}::text as ${name}` : name))
  await session.query(
    `declare carried no scroll cursor for
     select row_to_json(r)::text as row from (select ${list.join(', ')} ${carried(table)}) as r`,
  )
}

export async function nextRows(session: Session, limit: number): Promise<string[]> {
  const rows = await session.query<{ row: string }>(`fetch ${Math.trunc(limit)} from carried`)
  return rows.map(({ row }) => row)
}

export async function closeRows(session: Session): Promise<void> {
  await session.query('close carried')
}
