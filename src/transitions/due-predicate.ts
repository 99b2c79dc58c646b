/**
 * When a row is due by a field, apart from the time: what the field's index holds, so that rows which are done leave it.
 */
import { type TransitionValue, valueText } from './action.js'
import type { SoftDelete, SweptField } from './table.js'

export type Condition =
  | { column: string; is: 'not null' | 'null' | 'not true' }
  | { column: string; is: 'equal' | 'distinct'; value: string }

export function dueConditions(
  field: Pick<SweptField, 'name' | 'action'>,
  softDelete: SoftDelete | null,
): Condition[] {
  const conditions: Condition[] = [{ column: field.name, is: 'not null' }, ...targetConditions(field)]
  if (softDelete !== null && field.action.action !== 'hardDelete') {
    conditions.push({ column: softDelete.column, is: softDelete.kind === 'flag' ? 'not true' : 'null' })
  }
  return conditions
}

/** The part about what the field writes: it can come true by another field of the same row. */
export function targetConditions({ action }: Pick<SweptField, 'action'>): Condition[] {
  if (action.action !== 'set') return []
  const { column, from, to } = action
  return [from === undefined ? distinctFrom(column, to) : equalTo(column, from)]
}

function equalTo(column: string, value: TransitionValue): Condition {
  const text = valueText(value)
  return text === null ? { column, is: 'null' } : { column, is: 'equal', value: text }
}

function distinctFrom(column: string, value: TransitionValue): Condition {
  const text = valueText(value)
  return text === null ? { column, is: 'not null' } : { column, is: 'distinct', value: text }
}
