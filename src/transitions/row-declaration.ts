import type { HardDeleteAction, SetAction, SoftDeleteAction } from './action.js'
import type { TransitionHooks } from './change.js'
import type { IndexPolicy, TableName, TransitionDeclaration } from './declaration.js'

/** The columns that can hold a due time: nullable, and read as a date or as text. */
type DueKey<Row> = {
  [Key in keyof Row & string]: null extends Row[Key]
    ? NonNullable<Row[Key]> extends Date | string
      ? Key
      : never
    : never
}[keyof Row & string]

type RowAction<Row> =
  | { [Key in keyof Row & string]: SetAction<Key, Row[Key]> }[keyof Row & string]
  | SoftDeleteAction
  | HardDeleteAction

/** A declaration in the names and types of a row as a program reads it. */
export interface RowDeclaration<Row> extends TransitionHooks {
  softDelete?: keyof Row & string
  fields: { readonly [Key in DueKey<Row>]?: RowAction<Row> }
  indexes?: IndexPolicy
}

/** A declaration with its table, as `transitions.declare` takes it by itself. */
export type DeclaredTable = TransitionDeclaration & { table: TableName }

/** The same declaration in the names that the database has for them; what has none is left for `declare` to refuse. */
export function inColumnNames<Row>(
  table: TableName,
  declaration: RowDeclaration<Row>,
  columnOf: (property: string) => string | undefined,
): DeclaredTable {
  const named = (property: string) => columnOf(property) ?? property
  const { softDelete, fields, ...rest } = declaration
  const renamed = Object.entries<RowAction<Row> | undefined>(fields as never).flatMap(([field, action]) => {
    if (action === undefined) return []
    return [[named(field), action.action === 'set' ? { ...action, column: named(action.column) } : action]]
  })
  return {
    ...rest,
    ...(softDelete !== undefined && { softDelete: named(softDelete) }),
    fields: Object.fromEntries(renamed),
    table,
  }
}
