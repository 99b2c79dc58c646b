import type { TransitionValue } from './action.js'

/** One change of one row by one of its fields. */
export interface TransitionChange {
  /** As it was declared. */
  table: string
  /** The primary key, by column. A number where a number holds it exactly, else text. */
  key: Readonly<Record<string, unknown>>
  /** The column that held the due time. */
  field: string
  action: 'set' | 'softDelete' | 'hardDelete'
  /** What was written; null for `hardDelete`. */
  column: string | null
  from: unknown
  to: TransitionValue
  /** Cut to the millisecond, and the first that a Date holds for `-infinity`; the log has it as it is. */
  dueAt: Date
  appliedAt: Date
}

/** The transaction of a table's sweep, for rows that must be written with it or not at all. */
export interface SweepTransaction {
  query<Row = Record<string, unknown>>(text: string, params?: readonly SweepParam[]): Promise<Row[]>
}

type SweepScalar = null | boolean | number | string | Date
type SweepParam = SweepScalar | readonly SweepScalar[]

/** What is called when rows of declared tables are changed. */
export interface TransitionHooks {
  /**
   * Called once for each batch of a table, before it commits. When it throws, nothing of the batch has happened, and it is
   * tried again. It holds the rows' locks: it has five seconds between its statements.
   */
  inTransaction?: (tx: SweepTransaction, changes: readonly TransitionChange[]) => unknown
  /** Called for each change after it is committed, one after the other. What it throws is logged and changes nothing. */
  onApplied?: (change: TransitionChange) => unknown
  /** Short form, for `set` alone. */
  onSet?: (table: string, key: TransitionChange['key'], column: string, to: TransitionValue) => unknown
  /** Short form, for both ways of deleting. */
  onDelete?: (table: string, key: TransitionChange['key']) => unknown
}

export const HOOKS = [
  'inTransaction',
  'onApplied',
  'onSet',
  'onDelete',
] as const satisfies (keyof TransitionHooks)[]

export interface SweepCounts {
  /** Changes by `set`. */
  updated: number
  /** Changes by `softDelete` and `hardDelete`. */
  deleted: number
  /** Rows that were due when they were found, and had changed when their turn came. */
  skipped: number
  /** Rows that cannot be changed and were set aside. */
  quarantined: number
  /** Whether rows are left that were due. */
  truncated: boolean
}

export interface SweepReport extends SweepCounts {
  tables: (SweepCounts & { table: string })[]
  errors: { table: string; key?: TransitionChange['key']; message: string }[]
}

export function noCounts(): SweepCounts {
  return { updated: 0, deleted: 0, skipped: 0, quarantined: 0, truncated: false }
}

export function sumCounts(all: readonly SweepCounts[]): SweepCounts {
  const sum = noCounts()
  for (const counts of all) {
    sum.updated += counts.updated
    sum.deleted += counts.deleted
    sum.skipped += counts.skipped
    sum.quarantined += counts.quarantined
    sum.truncated ||= counts.truncated
  }
  return sum
}

/** Several sweeps as one: what the last one left is what is left. */
export function joinReports(reports: readonly SweepReport[]): SweepReport {
  const names = [...new Set(reports.flatMap(({ tables }) => tables.map(({ table }) => table)))]
  const last = reports.at(-1)
  const sumOf = (table: string) => {
    const counts = reports.flatMap(({ tables }) => tables.filter((each) => each.table === table))
    return { ...sumCounts(counts), truncated: counts.at(-1)!.truncated, table }
  }
  return {
    ...sumCounts(reports),
    truncated: last?.truncated ?? false,
    tables: names.map(sumOf),
    errors: reports.flatMap(({ errors }) => errors),
  }
}
