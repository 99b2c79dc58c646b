/**
 * How the statements of transitions write a declared table, its rows' keys and its due predicates. Names and values come from
 * code, and each is quoted here and nowhere else.
 */
import { type Condition, dueConditions, targetConditions } from '../transitions/due-predicate.js'
import type { ColumnType, SweptField, SweptTable, TypedColumn } from '../transitions/table.js'
import { quoteIdentifier } from './store.js'

/** Statements say `{schema}` for ours; a name that holds just that is written in another way. */
const PLACEHOLDER = '{schema}'

export function nameSql(name: string): string {
  const quoted = quoteIdentifier(name)
  if (!name.includes(PLACEHOLDER)) return quoted
  return `U&${quoted.replaceAll('\\', '\\\\').replaceAll('{', '\\007B')}`
}

/** Without a type: PostgreSQL gives it that of the column beside it, enums and domains included. */
export function literalSql(value: string | null): string {
  if (value === null) return 'null'
  const quoted = value.replaceAll("'", "''")
  if (!/[\\{]/.test(value)) return `'${quoted}'`
  return `E'${quoted.replaceAll('\\', '\\\\').replaceAll('{', '\\x7B')}'`
}

export function relationSql({ schema, table }: Pick<SweptTable, 'schema' | 'table'>): string {
  return `${nameSql(schema)}.${nameSql(table)}`
}

/** A column of the row, `r`. */
export const columnSql = (name: string) => `r.${nameSql(name)}`

type Compared = Pick<SweptTable, 'targets' | 'softDelete'>

/** What is true of a row of which `column` writes a column. */
export function conditionsSql(
  table: Compared,
  conditions: readonly Condition[],
  column: (name: string) => string,
): string {
  return conditions.map((condition) => conditionSql(table, condition, column)).join(' and ') || 'true'
}

function conditionSql(table: Compared, condition: Condition, column: (name: string) => string): string {
  const name = column(condition.column)
  if (condition.is !== 'equal' && condition.is !== 'distinct') return `${name} is ${condition.is}`
  const type = table.targets.find((target) => target.name === condition.column)?.type
  const operator = condition.is === 'equal' ? '=' : 'is distinct from'
  return `${comparedSql(name, type)} ${operator} ${literalSql(condition.value)}`
}

/** A domain as what it is made of: one over an enum has no operator of its own. */
export function comparedSql(value: string, type: ColumnType | undefined): string {
  return type?.isDomain ? `${value}::${type.sql}` : value
}

/** Whether a row is due by the field, whatever the time: exactly what its index holds. */
export function dueSql(table: Compared, field: SweptField): string {
  return conditionsSql(table, dueConditions(field, table.softDelete), columnSql)
}

export function matchesSql(table: Compared, field: SweptField): string {
  return conditionsSql(table, targetConditions(field), columnSql)
}

export function isDeletedSql({ softDelete }: SweptTable): string {
  if (softDelete === null) return 'false'
  const column = columnSql(softDelete.column)
  return softDelete.kind === 'flag' ? `${column} is true` : `${column} is not null`
}

/** Types whose text is short, whatever the value. */
const SHORT = [
  'int2',
  'int4',
  'int8',
  'oid',
  'uuid',
  'bool',
  'date',
  'timestamp',
  'timestamptz',
  'time',
  'interval',
  'float4',
  'float8',
]
const LONGEST_KEY_BYTES = 512
const HASHED_KEY = 'long key, sha256:'

/**
 * The row's key as one text, the same in every session whatever its settings. One that no index entry could hold beside its due
 * time stands for itself by its hash; and so does one that looks like such a hash, so that no two rows share a text.
 */
export function keySql({ key }: Pick<SweptTable, 'key'>): string {
  const texts = key.map(({ name, type }) => canonicalSql(columnSql(name), type))
  const whole = texts.length === 1 ? texts[0]! : `jsonb_build_array(${texts.join(', ')})::text`
  if (key.every(({ type }) => SHORT.includes(type.builtIn))) return `(${whole}) collate "C"`
  return `(case when octet_length(${whole}) <= ${LONGEST_KEY_BYTES} and not starts_with((${whole}) collate "C", '${HASHED_KEY}') then ${whole}
    else '${HASHED_KEY}' || encode(sha256(convert_to(${whole}, 'UTF8')), 'hex') end) collate "C"`
}

/** Not by a bare cast where its text follows the session's zone or style. */
function canonicalSql(value: string, { builtIn }: ColumnType): string {
  const formatted = (instant: string, format: string) =>
    `case when not isfinite(${value}) then ${value}::text when extract(year from ${instant}) < 0
      then to_char(${instant}, '${format} BC') else to_char(${instant}, '${format}') end`
  const part = (unit: string) => `extract(${unit} from ${value})`
  switch (builtIn) {
    case 'timestamptz':
      return formatted(`${value} at time zone 'UTC'`, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    case 'timestamp':
      return formatted(value, 'YYYY-MM-DD"T"HH24:MI:SS.US')
    case 'date':
      return formatted(value, 'YYYY-MM-DD')
    case 'bytea':
      return `'\\x' || encode(${value}, 'hex')`
    case 'interval':
      // A month is thirty days, as it is where intervals are compared: equal ones are one key.
      return `case when not isfinite(${value}) then ${value}::text else (((${part('year')} * 12 + ${part('month')}) * 30 + ${part('day')}) * 86400
        + ${part('hour')} * 3600 + ${part('minute')} * 60 + ${part('second')})::text || ' seconds' end`
    case 'float4':
    case 'float8':
      // Bit by bit, but for the two zeros, which are equal.
      return `case when ${value} = 0 then '0' else encode(${builtIn}send(${value}), 'hex') end`
    default:
      return `${value}::text`
  }
}

/**
 * Whether the row `r` has the key that is written in `stored`: by its columns, so that the primary key's index finds it. The
 * database refuses it where a stored key is none of today's type.
 */
function keyIs({ key }: Pick<SweptTable, 'key'>, stored: string): string {
  const part = (index: number) => (key.length === 1 ? stored : `(${stored}::jsonb ->> ${index})`)
  return key.map(({ name, type }, index) => `${columnSql(name)} = ${part(index)}::${type.sql}`).join(' and ')
}

/** How rows are found by stored keys: by the columns of their key, or, whatever was stored, by reading the whole table. */
export type KeyLookup = 'columns' | 'texts'

/**
 * Those of the `entries`, a materialized CTE of `key` and `due_at`, whose row still has that due time and meets a condition on `r` and
 * on `e`, the entry. Hashes cannot be read back: with one of these among them the table is read once.
 */
export function heldSql(
  table: SweptTable,
  field: SweptField,
  { entries, lookup, condition = 'true' }: { entries: string; lookup: KeyLookup; condition?: string },
): string {
  const isText =
    lookup === 'texts' || table.key.some(({ type }) => /^float/.test(type.builtIn))
      ? 'true'
      : `starts_with(e.key, '${HASHED_KEY}')`
  const row = `${keySql(table)} = e.key and ${columnSql(field.name)} = e.due_at and ${condition}`
  return `select e.key, e.due_at from ${entries} as e
    where (select true from ${relationSql(table)} as r
      where ${keyIs(table, `(case when ${isText} then null else e.key end)`)} and ${row}) is not null
    union all
    select e.key, e.due_at from ${entries} as e join ${relationSql(table)} as r on ${row}
    where ${isText} and (select count(*) from ${entries} as e where ${isText}) > 0`
}

/** The row's key as JSON, by column. */
export function keyJsonSql({ key }: Pick<SweptTable, 'key'>): string {
  return `jsonb_build_object(${key.map((column) => `${literalSql(column.name)}, ${jsonSql(column)}`).join(', ')})`
}

/** A value as JSON: text, but for what a number or a boolean of JavaScript holds exactly. */
export function jsonSql({ name, type }: TypedColumn): string {
  const value = columnSql(name)
  switch (type.builtIn) {
    case 'bool':
    case 'int2':
    case 'int4':
    case 'float4':
    case 'float8':
    case 'jsonb':
      return `to_jsonb(${value})`
    case 'int8':
      return `case when ${value} between -9007199254740991 and 9007199254740991 then to_jsonb(${value}) else to_jsonb(${value}::text) end`
    default:
      return `to_jsonb(${canonicalSql(value, type)})`
  }
}

/** Whether the field has not been applied to the row for its due time, nor set aside as it is now. */
export function isOpenSql(table: SweptTable, field: SweptField): string {
  const due = columnSql(field.name)
  const of = (entry: string) =>
    `${entry}.field_id = ${field.id} and ${entry}.key = ${keySql(table)} and ${entry}.due_at = ${due}`
  // As values and not as joins: a probe of the index for each row, whatever the planner makes of the sizes. And in one
  // coalesce, which it takes for true every other time: for IS NULL it expects next to no rows, and sorts all that are due.
  return `not coalesce((select true from {schema}.transition_log as l where ${of('l')}),
    (select true from {schema}.transition_quarantine as q where ${of('q')} and q.row_version = ${ROW_VERSION}), false)`
}

/** Another after each edit of the row. */
export const ROW_VERSION = 'r.xmin::text::bigint'
