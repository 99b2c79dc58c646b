import type { Action, TransitionValue } from './action.js'
import type { TransitionHooks } from './change.js'

/** A column's type: domains are resolved to what they are made of. */
export interface ColumnType {
  /** As a cast writes it, such as `pg_catalog.int8`. */
  sql: string
  /** The name of a type of PostgreSQL's own, such as `int8`; empty for others. */
  builtIn: string
  isDomain: boolean
}

export interface TypedColumn {
  name: string
  type: ColumnType
}

export type SoftDelete = { column: string; kind: 'timestamptz' | 'timestamp' | 'flag' }

/** A declared field, as the catalogue has resolved it. */
export interface SweptField {
  /** Its number in `transition_fields`. */
  id: number
  name: string
  action: Action<string, TransitionValue>
  /**
   * Of `set`: numbers that stand for its values, equal where the column's type says so. Chains are followed by them:
   * whether 'Draft' is 'draft' is for the database to say.
   */
  classes: { from: number | null; to: number } | null
}

/** A declared table, as the catalogue has resolved it: all that a sweep needs. */
export interface SweptTable {
  name: string
  schema: string
  table: string
  key: readonly TypedColumn[]
  softDelete: SoftDelete | null
  /** In the order of their declaration, which decides between equal due times. */
  fields: readonly SweptField[]
  /** What `set` writes, each column once. */
  targets: readonly TypedColumn[]
  /** Whether policies hide rows from this database user. */
  hasRowSecurity: boolean
  hooks: TransitionHooks
}

/** The column that a field writes; null where it deletes the row. */
export function writtenColumn(
  table: Pick<SweptTable, 'softDelete'>,
  { action }: Pick<SweptField, 'action'>,
): string | null {
  if (action.action === 'set') return action.column
  return action.action === 'softDelete' ? table.softDelete!.column : null
}
