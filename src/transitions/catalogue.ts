import { didYouMean } from '../time/did-you-mean.js'
import type { Report } from '../time/report.js'
import type { Declaration } from './declaration.js'
import type { ColumnType, SoftDelete } from './table.js'

/** What the catalogue says of a column. */
export interface CatalogueColumn {
  name: string
  /** As people write it, such as `character varying(20)`. */
  type: string
  base: ColumnType
  isNullable: boolean
  generated: 'stored' | 'virtual' | null
  mayUpdate: boolean
  /** Of an enum, in its order. */
  labels: readonly string[]
}

/** What the catalogue says of a table. */
export interface CatalogueTable {
  oid: number
  schema: string
  table: string
  kind: 'table' | 'partitioned table' | 'view' | 'materialized view' | 'foreign table'
  isTemporary: boolean
  hasChildren: boolean
  hasRules: boolean
  hasRowSecurity: boolean
  maySelect: boolean
  mayDelete: boolean
  /** Locking a row takes the right to update it, or some column of it. */
  mayLock: boolean
  /** The names of the primary key's columns, in its order; none without one. */
  key: readonly string[]
  columns: readonly CatalogueColumn[]
}

/** Whether the declaration fits the table, apart from its values: each mistake is reported. */
export function checkAgainstCatalogue(declaration: Declaration, table: CatalogueTable, report: Report): void {
  checkTable(table, report)
  const isWritten = declaration.fields.some(({ action }) => action.action === 'softDelete')
  if (declaration.softDelete !== null) checkSoftDelete(declaration.softDelete, isWritten, table, report)
  const dueColumns = declaration.fields.map(({ name }) => name)
  for (const { name, action } of declaration.fields) {
    checkDueColumn(name, table, report)
    if (action.action === 'hardDelete' && !table.mayDelete) {
      report(`fields.${name}`, 'this database user may not delete its rows; grant it: grant delete on …')
    }
    if (action.action === 'set') {
      const { softDelete } = declaration
      checkTarget(action.column, { at: `fields.${name}.column`, table, dueColumns, softDelete }, report)
    }
  }
}

function checkTable(table: CatalogueTable, report: Report): void {
  const { kind, key } = table
  if (kind !== 'table' && kind !== 'partitioned table') {
    return void report('table', `is a ${kind}; declare the table that holds the rows`)
  }
  if (table.isTemporary) report('table', 'is temporary: no other session could see it')
  if (table.hasChildren)
    report('table', 'has tables that inherit from it, whose rows its key does not tell apart')
  if (table.hasRules) report('table', 'has rewrite rules for UPDATE or DELETE; use triggers instead')
  if (key.length === 0) {
    report(
      'table',
      'has no primary key, so its rows cannot be told apart; add one: alter table … add primary key (…)',
    )
  }
  if (!table.maySelect) report('table', 'this database user may not read it; grant it: grant select on …')
  if (!table.mayLock) report('table', 'this database user may not lock its rows; grant it: grant update on …')
}

/** Null where there is none of that name, which is reported. */
function findColumn(name: string, at: string, table: CatalogueTable, report: Report): CatalogueColumn | null {
  const found = table.columns.find((column) => column.name === name)
  const names = table.columns.map((column) => column.name)
  if (!found) report(at, `there is no column "${name}"${didYouMean(name, names)}`)
  return found ?? null
}

function checkDueColumn(name: string, table: CatalogueTable, report: Report): void {
  const at = `fields.${name}`
  const column = findColumn(name, at, table, report)
  if (!column) return
  if (column.base.builtIn !== 'timestamptz') {
    const fix = `alter table … alter column "${name}" type timestamptz using "${name}" at time zone 'UTC'`
    return void report(at, `is ${column.type}, and must be timestamptz: ${fix}`)
  }
  if (!column.isNullable) {
    report(
      at,
      `is not nullable, and null means that nothing is due: alter table … alter column "${name}" drop not null`,
    )
  }
  if (column.generated === 'virtual')
    report(at, 'is a virtual generated column, which no index holds; make it stored')
}

function checkTarget(
  name: string,
  {
    at,
    table,
    dueColumns,
    softDelete,
  }: { at: string; table: CatalogueTable; dueColumns: readonly string[]; softDelete: string | null },
  report: Report,
): void {
  const column = findColumn(name, at, table, report)
  if (!column) return
  if (column.generated !== null) report(at, `"${name}" is a generated column; set what it is made of`)
  else if (table.key.includes(name)) report(at, `"${name}" is part of the primary key, which names the row`)
  else if (dueColumns.includes(name)) report(at, `"${name}" is a due column itself`)
  else if (name === softDelete) report(at, `"${name}" is the soft-delete column; use softDelete()`)
  else if (!column.mayUpdate)
    report(at, `this database user may not update "${name}"; grant it: grant update on …`)
}

const SOFT_DELETE_KINDS: Readonly<Record<string, SoftDelete['kind']>> = {
  timestamptz: 'timestamptz',
  timestamp: 'timestamp',
  bool: 'flag',
}

function checkSoftDelete(name: string, isWritten: boolean, table: CatalogueTable, report: Report): void {
  const column = findColumn(name, 'softDelete', table, report)
  if (!column) return
  const kind = softDeleteKind(column)
  if (kind === null) report('softDelete', `"${name}" is ${column.type}, and must be a timestamp or a boolean`)
  else if (kind !== 'flag' && !column.isNullable) {
    report('softDelete', `"${name}" is not nullable, and null means that the row is not deleted`)
  }
  if (!isWritten) return
  if (column.generated !== null) report('softDelete', `"${name}" is a generated column`)
  else if (!column.mayUpdate) {
    report('softDelete', `this database user may not update "${name}"; grant it: grant update on …`)
  }
}

export function softDeleteKind({ base }: CatalogueColumn): SoftDelete['kind'] | null {
  return SOFT_DELETE_KINDS[base.builtIn] ?? null
}
