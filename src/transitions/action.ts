/** What a due row's field does. Made by `set`, `softDelete` and `hardDelete`. */
export type Action<Column extends string = string, Value = unknown> =
  | SetAction<Column, Value>
  | SoftDeleteAction
  | HardDeleteAction

export interface SetAction<Column extends string = string, Value = unknown> {
  readonly action: 'set'
  readonly column: Column
  /** Only rows that have this are due; without it, all that have something else than `to`, NULL included. */
  readonly from?: Value
  readonly to: Value
}

export interface SoftDeleteAction {
  readonly action: 'softDelete'
}

export interface HardDeleteAction {
  readonly action: 'hardDelete'
}

/** What a column is set to, and compared with. It becomes the column's own type. */
export type TransitionValue = string | number | bigint | boolean | Date | null

/** Writes `to` into a column once the due time has come. */
export function set<const Column extends string, const Value extends TransitionValue>(
  column: Column,
  { from, to }: { from?: Value; to: Value },
): SetAction<Column, Value> {
  return { action: 'set', column, ...(from !== undefined && { from }), to }
}

/** Marks the row in the declaration's `softDelete` column: a timestamp becomes the time of the sweep, a flag true. */
export function softDelete(): SoftDeleteAction {
  return { action: 'softDelete' }
}

/** Deletes the row, also one that is soft-deleted already. */
export function hardDelete(): HardDeleteAction {
  return { action: 'hardDelete' }
}

/** A value as PostgreSQL reads it in a literal of any type; null stays null. */
export function valueText(value: TransitionValue): string | null {
  if (value === null) return null
  return value instanceof Date ? value.toISOString() : String(value)
}
