import { countFields } from '../store/queries/transition-log.js'
import type { TransitionValue } from '../transitions/action.js'
import type { SweepReport } from '../transitions/change.js'
import type { TableName, TransitionDeclaration } from '../transitions/declaration.js'
import type { DeclaredTable } from '../transitions/row-declaration.js'
import { type SweptTable, writtenColumn } from '../transitions/table.js'
import { type DeclaringParts, declareTable } from './declaring.js'

/** Rows of your own tables that change when their time comes. */
export interface Transitions {
  /**
   * Declares what becomes of a table's rows. Rejects with `transition_invalid` and every mistake where the declaration does not
   * fit the table as it is.
   */
  declare(table: TableName, declaration: TransitionDeclaration): Promise<void>
  /** The same with the table in it, as `fromDrizzle` and `fromPrisma` make it. */
  declare(declared: DeclaredTable): Promise<void>
  /** What this process has declared, with what is due, when the next is, and how many rows were set aside. */
  list(): Promise<TransitionStatus[]>
  /** Changes the rows that are due: of each table at most `sweeper.batchSize`. */
  sweep(options?: { quarantined?: boolean }): Promise<SweepReport>
}

export interface TransitionStatus {
  table: string
  key: string[]
  softDelete: string | null
  /** Whether policies hide rows from this database user, which are then not swept. */
  rowSecurity: boolean
  due: number
  nextDueAt: Date | null
  quarantined: number
  fields: FieldStatus[]
}

export interface FieldStatus {
  field: string
  action: 'set' | 'softDelete' | 'hardDelete'
  column: string | null
  from?: TransitionValue
  to?: TransitionValue
  /** How many rows; they are counted up to 10,000. */
  due: number
  nextDueAt: Date | null
  quarantined: number
}

export function createTransitions(
  parts: DeclaringParts & {
    sweep(options?: { quarantined?: boolean }): Promise<SweepReport>
    onDeclared(): void
  },
): Transitions {
  return {
    async declare(first: TableName | DeclaredTable, second?: TransitionDeclaration) {
      const { table, ...declaration } = asDeclared(first, second)
      await declareTable(parts, table, declaration)
      parts.onDeclared()
    },
    list: () => Promise.all(parts.tables.all().map((table) => statusOf(parts, table))),
    sweep: (options) => parts.sweep(options),
  }
}

function asDeclared(
  first: TableName | DeclaredTable,
  second: TransitionDeclaration | undefined,
): DeclaredTable {
  if (second === undefined && typeof first === 'object' && first !== null && 'fields' in first) return first
  return { ...second!, table: first as TableName }
}

async function statusOf({ store }: DeclaringParts, table: SweptTable): Promise<TransitionStatus> {
  const counts = await countFields(store, table)
  const fields = table.fields.map((field, index): FieldStatus => {
    const { action } = field
    const { due, next_due_at, quarantined } = counts[index]!
    return {
      field: field.name,
      action: action.action,
      column: writtenColumn(table, field),
      ...(action.action === 'set' && action.from !== undefined && { from: action.from }),
      ...(action.action === 'set' && { to: action.to }),
      due,
      // No Date holds the year 280000.
      nextDueAt: next_due_at === null || Number.isNaN(next_due_at.getTime()) ? null : next_due_at,
      quarantined,
    }
  })
  const sum = (count: 'due' | 'quarantined') => fields.reduce((total, field) => total + field[count], 0)
  const coming = fields.flatMap(({ nextDueAt }) => (nextDueAt === null ? [] : [nextDueAt.getTime()]))
  return {
    table: table.name,
    key: table.key.map(({ name }) => name),
    softDelete: table.softDelete?.column ?? null,
    rowSecurity: table.hasRowSecurity,
    due: sum('due'),
    nextDueAt: coming.length === 0 ? null : new Date(Math.min(...coming)),
    quarantined: sum('quarantined'),
    fields,
  }
}
