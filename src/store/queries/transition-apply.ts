import { valueText } from '../../transitions/action.js'
import type { RowPlan, Step } from '../../transitions/plan.js'
import { type SweptTable, writtenColumn } from '../../transitions/table.js'
import type { Param } from '../database.js'
import type { Session } from '../store.js'
import {
  columnSql,
  comparedSql,
  jsonSql,
  keyJsonSql,
  keySql,
  literalSql,
  nameSql,
  ROW_VERSION,
  relationSql,
} from '../table-sql.js'
import type { ReadRow } from './transition-sweep.js'

export interface PlannedRow {
  row: ReadRow
  plan: RowPlan
}

/** What became of a step. */
export interface StepOutcome {
  /** Its row's place in what was handed in, and its own among the row's steps. */
  row: number
  step: number
  key: Record<string, unknown>
  dueAt: Date
  /** What the row's column held before the sweep. */
  original: unknown
  /** Null where it was applied. */
  keptBack: KeptBack | null
}

/** A row that a trigger kept from changing as it was to, in one column at least. */
export interface KeptBack {
  /** The values of its key, as text. */
  key: string[]
  /** What it had before. */
  rowVersion: string
}

/**
 * Changes a whole batch of locked rows and writes the log of it: one statement. Rows are updated together if the same columns of
 * theirs are written, so that triggers on other columns stay out of it. Rows that are not what they were when they were locked,
 * as a trigger of another row's has written them, are left out of the answer.
 */
export async function applyPlans(
  session: Session,
  table: SweptTable,
  planned: readonly PlannedRow[],
  now: Date,
): Promise<StepOutcome[]> {
  const writes = planned.map(({ plan }) => columnsOf(table, plan))
  const groups = [...new Set(writes)].filter((group) => group !== '')
  const steps = planned.flatMap(({ plan }, row) => plan.steps.map((step, place) => ({ row, place, step })))
  const params: Param[] = [
    now,
    planned.map(({ row }) => row.tableoid),
    planned.map(({ row }) => row.tid),
    // -1 for rows that are deleted.
    writes.map((group) => groups.indexOf(group)),
    ...table.targets.map(({ name }) => planned.map(({ plan }) => plan.columns.get(name) ?? null)),
    steps.map(({ row }) => row),
    steps.map(({ place }) => place),
    steps.map(({ step }) => step.field),
    steps.map(({ step }) => table.fields[step.field]!.id),
    steps.map(({ step }) => table.fields[step.field]!.action.action),
    steps.map(({ step }) => writtenColumn(table, table.fields[step.field]!)),
    steps.map(({ step }) => step.after !== null),
    steps.map(({ step }) => textBefore(table, step)),
    steps.map(({ step }) => textAfter(table, step, now)),
  ]
  const rows = await session.query<{
    row: number
    step: number
    key: Record<string, unknown>
    due_ms: number
    original: unknown
    /** The row's version, and its key. */
    kept_back: [string, ...string[]] | null
  }>(applySql(table, groups, writes.includes('')), params)
  return rows.map(({ due_ms, kept_back, ...rest }) => ({
    ...rest,
    dueAt: new Date(Math.max(due_ms, EARLIEST_MS)),
    keptBack: kept_back && { key: kept_back.slice(1), rowVersion: kept_back[0] },
  }))
}

/** The first instant that a Date holds: `-infinity` is before it. */
const EARLIEST_MS = -8.64e15

/** The columns that a plan writes, as one text; empty where the row is deleted. */
function columnsOf(table: SweptTable, plan: RowPlan): string {
  if (plan.hardDeletes) return ''
  const set = table.targets.flatMap(({ name }, index) => (plan.columns.has(name) ? [index] : []))
  return [...set, ...(plan.softDeletes ? ['soft'] : [])].join()
}

function textBefore(table: SweptTable, { after }: Step): string | null {
  const before = after === null ? null : table.fields[after]!.action
  return before?.action === 'set' ? valueText(before.to) : null
}

function textAfter(table: SweptTable, { field }: Step, now: Date): string | null {
  const { action } = table.fields[field]!
  if (action.action === 'set') return valueText(action.to)
  if (action.action === 'hardDelete') return null
  return table.softDelete!.kind === 'flag' ? 'true' : now.toISOString()
}

function applySql(table: SweptTable, groups: readonly string[], hasDeletes: boolean): string {
  const { fields, key, targets } = table
  const relation = relationSql(table)
  const setNames = targets.map((_, index) => `set_${index}`)
  const first = 5 + targets.length
  const stepParam = (offset: number, type: string) => `$${first + offset}::${type}[]`
  const byField = (value: (index: number) => string, otherwise: string) =>
    `case s.field ${fields.map((_, index) => `when ${index} then ${value(index)}`).join(' ')} else ${otherwise} end`
  const targetOf = (index: number) => {
    const { action } = fields[index]!
    if (action.action === 'set') return `b.json_${targets.findIndex(({ name }) => name === action.column)}`
    return action.action === 'softDelete' ? 'b.json_soft' : `null::jsonb`
  }
  const { softDelete } = table
  const soft = softDelete && {
    name: softDelete.column,
    type: { sql: '', builtIn: softDelete.kind === 'flag' ? 'bool' : softDelete.kind, isDomain: false },
  }
  // Only what there is to do: a statement's triggers fire, and its privileges are asked for, without a row too.
  const parts = groups.map((group, index) => ({
    cte: updateSql(table, group, index),
    outcome: `select row, is_changed from updated_${index}`,
  }))
  const outcome = 'select row, true as is_changed from deleted'
  if (hasDeletes) parts.push({ cte: deleteSql(table), outcome })
  return `
  with planned as materialized (
    select (p.ordinal - 1)::int as row, p.tableoid, p.tid, p.part${setNames.map((name) => `, p.${name}`).join('')}
    from unnest($2::oid[], $3::tid[], $4::int[]${targets.map((_, index) => `, $${5 + index}::int[]`).join('')})
      with ordinality as p (tableoid, tid, part${setNames.map((name) => `, ${name}`).join('')}, ordinal)
  ),
  before as materialized (
    select p.*, ${keySql(table)} as key, ${keyJsonSql(table)} as key_json, ${ROW_VERSION} as row_version,
      array[${key.map(({ name }) => `${columnSql(name)}::text`).join(', ')}] as key_texts
      ${fields.map(({ name }, index) => `, ${columnSql(name)} as due_${index}`).join('')}
      ${targets.map((target, index) => `, ${comparedSql(columnSql(target.name), target.type)} as old_${index}, ${jsonSql(target)} as json_${index}`).join('')}
      ${soft ? `, ${columnSql(soft.name)} as old_soft, ${jsonSql(soft)} as json_soft` : ''}
    from planned as p join ${relation} as r on r.ctid = p.tid and r.tableoid = p.tableoid
  ),
  ${parts.map(({ cte }) => cte).join('')}
  outcome as (
    ${parts.map(({ outcome }) => outcome).join('\n    union all ')}
  ),
  steps as (
    select s.*, b.key, b.key_json, ${byField((index) => `b.due_${index}`, 'null')} as due_at,
      ${byField(targetOf, 'null')} as original,
      coalesce(o.is_changed, false) as is_applied, b.row_version, b.key_texts
    from unnest(${stepParam(0, 'int')}, ${stepParam(1, 'int')}, ${stepParam(2, 'int')}, ${stepParam(3, 'int')},
        ${stepParam(4, 'text')}, ${stepParam(5, 'text')}, ${stepParam(6, 'bool')}, ${stepParam(7, 'text')}, ${stepParam(8, 'text')})
      as s (row, step, field, field_id, action, column_name, follows, from_value, to_value)
    join before as b on b.row = s.row
    left join outcome as o on o.row = s.row
  ),
  logged as (
    insert into {schema}.transition_log (field_id, key, due_at, applied_at, action, column_name, from_value, to_value)
    select field_id, key, due_at, $1::timestamptz, action, column_name,
      case when follows then from_value else original #>> '{}' end, to_value
    from steps where is_applied
    on conflict do nothing
  ),
  released as (
    delete from {schema}.transition_quarantine as q using steps as s
    where s.is_applied and q.field_id = s.field_id and q.key = s.key
  )
  select row, step, key_json as key, floor(extract(epoch from due_at) * 1000)::float8 as due_ms, original,
    case when not is_applied then row_version::text || key_texts end as kept_back
  from steps order by row, step`
}

/** One update of the rows that write the same columns. It tells a row that a trigger has left as it was from one that changed. */
function updateSql(table: SweptTable, group: string, index: number): string {
  const writes = group.split(',').map((part) => writeSql(table, part))
  // A chain that ends where it began means no change.
  const changed = writes.map(
    ({ compared, value, old }) =>
      `(${compared} is distinct from ${old} or ${value} is not distinct from ${old})`,
  )
  return `updated_${index} as (
    update ${relationSql(table)} as r set ${writes.map(({ column, value }) => `${column} = ${value}`).join(', ')}
    from before as b
    where b.part = ${index} and r.ctid = b.tid and r.tableoid = b.tableoid
    returning b.row, ${changed.join(' and ')} as is_changed
  ),`
}

function deleteSql(table: SweptTable): string {
  return `deleted as (
    delete from ${relationSql(table)} as r using before as b
    where b.part = -1 and r.ctid = b.tid and r.tableoid = b.tableoid
    returning b.row
  ),`
}

function writeSql(
  table: SweptTable,
  part: string,
): { column: string; value: string; compared: string; old: string } {
  if (part === 'soft') {
    const { column, kind } = table.softDelete!
    const value = {
      flag: 'true',
      timestamptz: '$1::timestamptz',
      timestamp: `($1::timestamptz at time zone 'UTC')`,
    }[kind]
    return { column: nameSql(column), value, compared: columnSql(column), old: 'b.old_soft' }
  }
  const { name, type } = table.targets[Number(part)]!
  const cases = table.fields.flatMap(({ action }, index) =>
    action.action === 'set' && action.column === name
      ? [`when ${index} then ${literalSql(valueText(action.to))}`]
      : [],
  )
  // The column's own value gives the others its type.
  const old = `b.old_${part}`
  return {
    column: nameSql(name),
    value: `case b.set_${part} ${cases.join(' ')} else ${old} end`,
    compared: comparedSql(columnSql(name), type),
    old,
  }
}
