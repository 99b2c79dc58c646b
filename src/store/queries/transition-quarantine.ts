/** Setting rows aside that cannot be changed. In each statement `r` is a row of the declared table. */
import { valueText } from '../../transitions/action.js'
import { type SweptField, type SweptTable, writtenColumn } from '../../transitions/table.js'
import type { Session } from '../store.js'
import { columnSql, dueSql, keyJsonSql, keySql, ROW_VERSION, relationSql } from '../table-sql.js'
import type { KeptBack } from './transition-apply.js'
import type { LockedTuple } from './transition-sweep.js'

const REPLACING = `on conflict (field_id, key, due_at) do update
  set row_version = excluded.row_version, action = excluded.action, column_name = excluded.column_name,
    to_value = excluded.to_value, code = excluded.code, message = excluded.message, quarantined_at = excluded.quarantined_at`

/** What a field was to do: an entry belongs to it. */
function purpose(table: SweptTable, field: SweptField): [string, string | null, string | null] {
  const { action } = field
  return [action.action, writtenColumn(table, field), action.action === 'set' ? valueText(action.to) : null]
}

/** Releases what was set aside when something else was declared for the field. */
export async function releaseOtherPurposes(session: Session, table: SweptTable): Promise<void> {
  const purposes = table.fields.map((field) => purpose(table, field))
  await session.query(
    `delete from {schema}.transition_quarantine as q
     using unnest($1::int[], $2::text[], $3::text[], $4::text[]) as d (field_id, action, column_name, to_value)
     where q.field_id = d.field_id
       and (q.action, q.column_name, q.to_value) is distinct from (d.action, d.column_name, d.to_value)`,
    [table.fields.map(({ id }) => id), ...[0, 1, 2].map((part) => purposes.map((each) => each[part]!))],
  )
}

/** Sets one step of a row aside, with the error that keeps it from being changed. Returns the row's key. */
export async function setRefusedAside(
  session: Session,
  table: SweptTable,
  step: { row: LockedTuple; field: number },
  reason: { code: string | null; message: string; now: Date },
): Promise<Record<string, unknown> | undefined> {
  const field = table.fields[step.field]!
  const [found] = await session.query<{ key: Record<string, unknown> }>(
    `with bad as materialized (
       select ${keySql(table)} as key, ${keyJsonSql(table)} as key_json, ${columnSql(field.name)} as due_at,
         ${ROW_VERSION} as row_version
       from ${relationSql(table)} as r where r.tableoid = $2 and r.ctid = $3::tid
     ),
     kept as (
       insert into {schema}.transition_quarantine
         (field_id, key, due_at, row_version, action, column_name, to_value, code, message, quarantined_at)
       select $4, key, due_at, row_version, $7, $8, $9, $5, $6, $1 from bad
       ${REPLACING}
     )
     select key_json as key from bad`,
    [
      reason.now,
      step.row.tableoid,
      step.row.tid,
      field.id,
      reason.code,
      reason.message,
      ...purpose(table, field),
    ],
  )
  return found?.key
}

export const KEPT_BACK = 'a trigger kept the row from changing'

/**
 * Sets steps aside whose rows a trigger kept from changing. It may have written them itself: they are found by their key, in the
 * version that it has left, which must not free what is set aside of the row's other fields. Those that are not due any more
 * are let be. Returns the places of the others.
 */
export async function setKeptBackAside(
  session: Session,
  table: SweptTable,
  steps: readonly { field: number; row: KeptBack }[],
  now: Date,
): Promise<number[]> {
  const { fields, key } = table
  const byField = (value: (field: (typeof fields)[number]) => string) =>
    `case s.field ${fields.map((field, index) => `when ${index} then ${value(field)}`).join(' ')} end`
  const keyNames = key.map((_, index) => `key_${index}`)
  const purposes = steps.map(({ field }) => purpose(table, fields[field]!))
  const rows = await session.query<{ place: number }>(
    `with kept as materialized (
       select s.*, ($2::int[])[s.field + 1] as field_id, ${keySql(table)} as key,
         ${byField(({ name }) => columnSql(name))} as due_at, ${ROW_VERSION} as row_version
       from unnest($3::int[], $4::bigint[], $5::text[], $6::text[], $7::text[],
           ${key.map((_, index) => `$${8 + index}::text[]`).join(', ')})
         with ordinality as s (field, old_version, action, column_name, to_value, ${keyNames.join(', ')}, ordinal)
       join ${relationSql(table)} as r
         on ${key.map(({ name, type }, index) => `${columnSql(name)} = s.key_${index}::${type.sql}`).join(' and ')}
       where ${byField((field) => dueSql(table, field))}
     ),
     carried as (
       update {schema}.transition_quarantine as q set row_version = k.row_version from kept as k
       where q.field_id = any($2) and q.field_id <> k.field_id and q.key = k.key and q.row_version = k.old_version
     ),
     aside as (
       insert into {schema}.transition_quarantine
         (field_id, key, due_at, row_version, action, column_name, to_value, message, quarantined_at)
       select field_id, key, due_at, row_version, action, column_name, to_value, '${KEPT_BACK}', $1 from kept
       ${REPLACING}
     )
     select ordinal - 1 as place from kept order by ordinal`,
    [
      now,
      fields.map(({ id }) => id),
      steps.map(({ field }) => field),
      steps.map(({ row }) => row.rowVersion),
      ...[0, 1, 2].map((part) => purposes.map((each) => each[part]!)),
      ...key.map((_, index) => steps.map(({ row }) => row.key[index]!)),
    ],
  )
  return rows.map(({ place }) => place)
}
