import { type TransitionValue, valueText } from '../../transitions/action.js'
import type { CatalogueColumn, CatalogueTable } from '../../transitions/catalogue.js'
import type { Session } from '../store.js'
import { literalSql, nameSql } from '../table-sql.js'

/** The table of that name, where none is named in the first schema of the search path that has one. */
export async function readTable(
  session: Session,
  { schema, table }: { schema: string | null; table: string },
): Promise<CatalogueTable | undefined> {
  const [row] = await session.query<TableRow>(READ_TABLE, [schema, table])
  if (!row) return undefined
  const columns = await session.query<ColumnRow>(READ_COLUMNS, [row.oid])
  return {
    oid: row.oid,
    schema: row.schema,
    table: row.table,
    kind: KINDS[row.kind]!,
    isTemporary: row.is_temporary,
    hasChildren: row.has_children,
    hasRules: row.has_rules,
    hasRowSecurity: row.has_row_security,
    maySelect: row.may_select,
    mayDelete: row.may_delete,
    mayLock: row.may_lock,
    key: row.key,
    columns: columns.map(toColumn),
  }
}

interface TableRow {
  oid: number
  schema: string
  table: string
  kind: string
  is_temporary: boolean
  has_children: boolean
  has_rules: boolean
  has_row_security: boolean
  may_select: boolean
  may_delete: boolean
  may_lock: boolean
  key: string[]
}

const KINDS: Readonly<Record<string, CatalogueTable['kind']>> = {
  r: 'table',
  p: 'partitioned table',
  v: 'view',
  m: 'materialized view',
  f: 'foreign table',
}

const READ_TABLE = `
  select c.oid, n.nspname::text as schema, c.relname::text as "table", c.relkind::text as kind, c.relpersistence = 't' as is_temporary,
    c.relkind = 'r' and exists (select from pg_inherits where inhparent = c.oid) as has_children,
    exists (select from pg_rewrite where ev_class = c.oid and ev_type in ('2', '4')) and c.relkind in ('r', 'p') as has_rules,
    row_security_active(c.oid) as has_row_security,
    has_table_privilege(c.oid, 'select') as may_select, has_table_privilege(c.oid, 'delete') as may_delete,
    has_any_column_privilege(c.oid, 'update') as may_lock,
    array(
      select a.attname::text from pg_index as i, unnest(i.indkey) with ordinality as k (attnum, place)
      join pg_attribute as a on a.attnum = k.attnum
      where i.indrelid = c.oid and i.indisprimary and a.attrelid = c.oid order by k.place
    ) as key
  from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
  where c.relname = $2 and c.relkind in ('r', 'p', 'v', 'm', 'f')
    and case when $1::text is null then n.nspname = any(current_schemas(false)) else n.nspname = $1 end
  order by array_position(current_schemas(false), n.nspname) limit 1`

/** The names of the tables that could have been meant, for a suggestion. */
export async function listTables(session: Session, schema: string | null): Promise<string[]> {
  const rows = await session.query<{ name: string }>(
    `select case when $1::text is null then '' else n.nspname || '.' end || c.relname as name
     from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and case when $1::text is null then n.nspname = any(current_schemas(false)) else n.nspname = $1 end
     limit 1000`,
    [schema],
  )
  return rows.map(({ name }) => name)
}

interface ColumnRow {
  name: string
  type: string
  base: string
  built_in: string
  is_domain: boolean
  is_nullable: boolean
  generated: string
  may_update: boolean
  labels: string[]
}

const READ_COLUMNS = `
  select a.attname::text as name, format_type(a.atttypid, a.atttypmod) as type,
    quote_ident(n.nspname) || '.' || quote_ident(b.typname) as base,
    case when n.nspname = 'pg_catalog' then b.typname::text else '' end as built_in, t.typtype = 'd' as is_domain,
    not (a.attnotnull or t.typnotnull) as is_nullable, a.attgenerated::text as generated,
    has_column_privilege(a.attrelid, a.attnum, 'update') as may_update,
    array(select e.enumlabel::text from pg_enum as e where e.enumtypid = b.oid order by e.enumsortorder) as labels
  from pg_attribute as a
  join pg_type as t on t.oid = a.atttypid
  cross join lateral (
    with recursive made_of as (
      select t.oid, t.typtype, t.typbasetype
      union all
      select inner_type.oid, inner_type.typtype, inner_type.typbasetype
      from made_of join pg_type as inner_type on inner_type.oid = made_of.typbasetype where made_of.typtype = 'd'
    )
    select oid from made_of where typtype <> 'd'
  ) as root
  join pg_type as b on b.oid = root.oid
  join pg_namespace as n on n.oid = b.typnamespace
  where a.attrelid = $1 and a.attnum > 0 and not a.attisdropped
  order by a.attnum`

function toColumn(row: ColumnRow): CatalogueColumn {
  return {
    name: row.name,
    type: row.type,
    base: { sql: row.base, builtIn: row.built_in, isDomain: row.is_domain },
    isNullable: row.is_nullable,
    generated: row.generated === 's' ? 'stored' : row.generated === 'v' ? 'virtual' : null,
    mayUpdate: row.may_update,
    labels: row.labels,
  }
}

/** A CHECK of the table that is about one column alone, and is enforced: PostgreSQL 18 has others, of which older ones know nothing. */
export interface ColumnCheck {
  name: string
  column: string
  expression: string
  definition: string
}

export function listColumnChecks(session: Session, oid: number): Promise<ColumnCheck[]> {
  return session.query<ColumnCheck>(
    `select c.conname::text as name, a.attname::text as column, pg_get_expr(c.conbin, c.conrelid) as expression,
       pg_get_constraintdef(c.oid) as definition
     from pg_constraint as c join pg_attribute as a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
     where c.conrelid = $1 and c.contype = 'c' and cardinality(c.conkey) = 1
       and coalesce(to_jsonb(c) ->> 'conenforced', 'true') = 'true'
     order by c.conname`,
    [oid],
  )
}

/**
 * Whether the column's type takes a value as it is: rejects where it takes none such, and is false where it would cut or
 * round it, as a cast to a length does silently.
 */
export async function typeTakes(
  session: Session,
  column: CatalogueColumn,
  value: TransitionValue,
): Promise<boolean> {
  const literal = literalSql(valueText(value))
  const [row] = await session.query<{ is_whole: boolean }>(
    `select ${literal}::${column.type}::${column.base.sql} is not distinct from ${literal}::${column.base.sql} as is_whole`,
  )
  return row!.is_whole
}

/** Whether a CHECK lets the column hold a value: the database's own expression, asked about a row of that column alone. */
export async function checkAllows(
  session: Session,
  check: ColumnCheck,
  column: CatalogueColumn,
  value: TransitionValue,
): Promise<boolean> {
  const [row] = await session.query<{ is_allowed: boolean }>(
    `select coalesce((${check.expression}), true) as is_allowed
     from (select ${literalSql(valueText(value))}::${column.type} as ${nameSql(column.name)}) as r`,
  )
  return row!.is_allowed
}

/** For each pair of values, whether they are the same for the column's type. */
export async function areSame(
  session: Session,
  column: CatalogueColumn,
  pairs: readonly (readonly [TransitionValue, TransitionValue])[],
): Promise<boolean[]> {
  if (pairs.length === 0) return []
  const typed = (value: TransitionValue) => `${literalSql(valueText(value))}::${column.base.sql}`
  const [row] = await session.query<{ same: boolean[] }>(
    `select array[${pairs.map(([a, b]) => `${typed(a)} is not distinct from ${typed(b)}`).join(', ')}] as same`,
  )
  return row!.same
}

/** The numbers by which the log knows the fields of a table. */
export async function numberFields(
  session: Session,
  { schema, table }: { schema: string; table: string },
  fields: readonly string[],
): Promise<Map<string, number>> {
  await session.query(
    `insert into {schema}.transition_fields (table_schema, table_name, field) select $1, $2, unnest($3::text[])
     on conflict do nothing`,
    [schema, table, fields],
  )
  const rows = await session.query<{ id: number; field: string }>(
    'select id, field from {schema}.transition_fields where table_schema = $1 and table_name = $2 and field = any($3)',
    [schema, table, fields],
  )
  return new Map(rows.map(({ id, field }) => [field, id]))
}
