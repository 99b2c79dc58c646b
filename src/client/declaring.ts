import { type Mistake, mistakesError } from '../errors.js'
import type { Logger } from '../logger.js'
import type { Database } from '../store/database.js'
import {
  areSame,
  type ColumnCheck,
  checkAllows,
  listColumnChecks,
  listTables,
  numberFields,
  readTable,
  typeTakes,
} from '../store/queries/transition-catalogue.js'
import {
  buildIndexes,
  createIndexSql,
  type DueIndex,
  dueIndex,
  installWakeTrigger,
  readIndexStates,
} from '../store/queries/transition-indexes.js'
import { releaseOtherPurposes } from '../store/queries/transition-quarantine.js'
import { isRefusedByServer } from '../store/refusal.js'
import type { Session, Store } from '../store/store.js'
import { didYouMean } from '../time/did-you-mean.js'
import { quote, type Report } from '../time/report.js'
import type { TransitionValue } from '../transitions/action.js'
import {
  type CatalogueColumn,
  type CatalogueTable,
  checkAgainstCatalogue,
  softDeleteKind,
} from '../transitions/catalogue.js'
import {
  type Declaration,
  type IndexPolicy,
  readDeclaration,
  type TableName,
  type TransitionDeclaration,
} from '../transitions/declaration.js'
import type { TransitionRegistry } from '../transitions/registry.js'
import type { SweptField, SweptTable } from '../transitions/table.js'

export interface DeclaringParts {
  store: Store
  /** Without a deadline: an index takes as long as it takes. */
  database: Database
  tables: TransitionRegistry
  logger: Logger
  indexes: IndexPolicy
  wake: boolean
}

/**
 * Checks a declaration against the live catalogue, sees to its indexes, and registers it. Each mistake is found before any is
 * reported, and nothing is changed while there is one.
 */
export async function declareTable(
  parts: DeclaringParts,
  name: TableName,
  given: TransitionDeclaration,
): Promise<SweptTable> {
  const { store, tables } = parts
  const mistakes: Mistake[] = []
  const shown = typeof name === 'string' ? name : (name?.table ?? '')
  const report: Report = (field, message) =>
    void mistakes.push({ field: `table "${shown}": ${field}`, message })
  const declaration = readDeclaration(name, given, report)
  const catalogue = declaration && (await findTable(store, declaration, report))
  if (declaration && catalogue) {
    if (tables.has(catalogue)) report('table', DECLARED_ALREADY)
    checkAgainstCatalogue(declaration, catalogue, report)
    await checkValues(store, declaration, catalogue, report)
  }
  if (!declaration || !catalogue || mistakes.length > 0) throw mistakesError('transition_invalid', mistakes)

  const table = await resolve(store, declaration, catalogue)
  await ensureIndexes(
    parts,
    table,
    { policy: declaration.indexes ?? parts.indexes, kind: catalogue.kind },
    report,
  )
  if (parts.wake && mistakes.length === 0) await installWake(store, table, report)
  if (tables.has(table)) report('table', DECLARED_ALREADY)
  if (mistakes.length > 0) throw mistakesError('transition_invalid', mistakes)
  if (table.hasRowSecurity) {
    parts.logger.warn(
      { table: table.name },
      'row-level security hides rows from this database user: they are not swept',
    )
  }
  await releaseOtherPurposes(store, table)
  tables.add(table)
  return table
}

const DECLARED_ALREADY = 'is declared already; put all its fields into one declaration'

async function installWake(store: Store, table: SweptTable, report: Report): Promise<void> {
  try {
    await installWakeTrigger(store, store.schema, table)
  } catch (error) {
    if (!isRefusedByServer(error)) throw error
    report('wake', `its trigger could not be put on the table (${(error as Error).message})`)
  }
}

async function findTable(
  session: Session,
  declaration: Declaration,
  report: Report,
): Promise<CatalogueTable | undefined> {
  const found = await readTable(session, declaration)
  if (found) return found
  const candidates = await listTables(session, declaration.schema)
  const where = declaration.schema === null ? ' in the search path' : ` in the schema "${declaration.schema}"`
  return report('table', `there is none of that name${where}${didYouMean(declaration.name, candidates)}`)
}

/** Whether each value fits its column: its type, its enum or domain, and the checks that are about it alone. */
async function checkValues(
  session: Session,
  declaration: Declaration,
  table: CatalogueTable,
  report: Report,
): Promise<void> {
  const checks = await listColumnChecks(session, table.oid)
  for (const { name, action } of declaration.fields) {
    const column = action.action === 'set' && table.columns.find(({ name }) => name === action.column)
    if (!column) continue
    const { from, to } = action
    const isToRight = await checkValue(
      session,
      { value: to, column, checks, at: `fields.${name}.to` },
      report,
    )
    if (from === undefined) continue
    const isFromRight = await checkValue(
      session,
      { value: from, column, checks, at: `fields.${name}.from` },
      report,
    )
    if (!isToRight || !isFromRight) continue
    const [isSame] = await areSame(session, column, [[from, to]])
    if (isSame) report(`fields.${name}.to`, `${quote(to)} – is what it is set from`)
  }
}

const MOVING_TYPES = /^_?(date|time|timestamp)(tz)?$|^_?(date|ts|tstz)(multi)?range$/
const MOVING_VALUES = /(?<![a-z])(now|today|tomorrow|yesterday)(?![a-z])/i

async function checkValue(
  session: Session,
  {
    value,
    column,
    checks,
    at,
  }: { value: TransitionValue; column: CatalogueColumn; checks: readonly ColumnCheck[]; at: string },
  report: Report,
): Promise<boolean> {
  const refuse = (message: string) => {
    report(at, `${quote(value instanceof Date ? value.toISOString() : value)} – ${message}`)
    return false
  }
  if (MOVING_TYPES.test(column.base.builtIn) && MOVING_VALUES.test(String(value)))
    return refuse('is another time whenever it is read; give one that stays, or let a trigger write it')
  if (value === null) return column.isNullable || refuse(`"${column.name}" is not nullable`)
  if (column.labels.length > 0 && !column.labels.includes(String(value))) {
    const suggestion = didYouMean(String(value), column.labels)
    return refuse(`is not in the enum of "${column.name}": ${column.labels.join(', ')}${suggestion}`)
  }
  try {
    if (!(await typeTakes(session, column, value))) return refuse(`does not fit into ${column.type}`)
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (!/^(22|23|42)/.test(String(code))) throw error
    return refuse(`"${column.name}" is ${column.type} (${message})`)
  }
  for (const check of checks) {
    if (check.column !== column.name || (await isAllowed(session, check, column, value))) continue
    const suggestion = didYouMean(String(value), literalsOf(check.definition))
    return refuse(`breaks "${check.name}": ${check.definition}${suggestion}`)
  }
  return true
}

/** A check that cannot be asked about a column by itself is left to ask about rows. */
async function isAllowed(
  session: Session,
  check: ColumnCheck,
  column: CatalogueColumn,
  value: TransitionValue,
): Promise<boolean> {
  try {
    return await checkAllows(session, check, column, value)
  } catch (error) {
    if (isRefusedByServer(error)) return true
    throw error
  }
}

/** The texts that a list of values in a CHECK names. */
function literalsOf(definition: string): string[] {
  return [...definition.matchAll(/'((?:[^']|'')*)'/g)].map(([, text]) => text!.replaceAll("''", "'"))
}

async function resolve(
  session: Session,
  declaration: Declaration,
  table: CatalogueTable,
): Promise<SweptTable> {
  const columnOf = (name: string) => table.columns.find((column) => column.name === name)!
  const typed = (name: string) => ({ name, type: columnOf(name).base })
  const ids = await numberFields(
    session,
    table,
    declaration.fields.map(({ name }) => name),
  )
  const targetNames = new Set(
    declaration.fields.flatMap(({ action }) => (action.action === 'set' ? [action.column] : [])),
  )
  const fields: SweptField[] = declaration.fields.map((field) => ({
    ...field,
    id: ids.get(field.name)!,
    classes: null,
  }))
  for (const name of targetNames) await classify(session, columnOf(name), fields)
  const soft = declaration.softDelete === null ? null : columnOf(declaration.softDelete)
  return {
    name: declaration.name,
    schema: table.schema,
    table: table.table,
    key: table.key.map(typed),
    softDelete: soft && { column: soft.name, kind: softDeleteKind(soft)! },
    fields,
    targets: [...targetNames].map(typed),
    hasRowSecurity: table.hasRowSecurity,
    hooks: declaration.hooks,
  }
}

/** Numbers the values of a column's fields so that those are equal which the column's type takes for equal. */
async function classify(
  session: Session,
  column: CatalogueColumn,
  fields: readonly SweptField[],
): Promise<void> {
  const setters = fields.flatMap((field) =>
    field.action.action === 'set' && field.action.column === column.name ? [{ field, ...field.action }] : [],
  )
  const values = setters.flatMap(({ from, to }) => (from === undefined ? [to] : [to, from]))
  const pairs = values.flatMap((a, first) =>
    values.slice(0, first).map((b, second) => ({ pair: [a, b] as const, first, second })),
  )
  const same = await areSame(
    session,
    column,
    pairs.map(({ pair }) => pair),
  )
  const classOf = values.map((_, index) => index)
  pairs.forEach(({ first, second }, index) => {
    if (same[index]) classOf[first] = Math.min(classOf[first]!, classOf[second]!)
  })
  let place = 0
  for (const { field, from } of setters) {
    const to = classOf[place++]!
    field.classes = { to, from: from === undefined ? null : classOf[place++]! }
  }
}

async function ensureIndexes(
  { store, database, logger }: DeclaringParts,
  table: SweptTable,
  { policy, kind }: { policy: IndexPolicy; kind: CatalogueTable['kind'] },
  report: Report,
): Promise<void> {
  const indexes = table.fields.map((field) => dueIndex(table, field))
  const states = await readIndexStates(store, table, indexes)
  const wanting = indexes.filter((index) => states.get(index) !== 'valid')
  if (wanting.length === 0) return
  const tell = (index: DueIndex, why: string) =>
    report(`fields.${index.field}`, `${why}: ${createIndexSql(index)}`)
  if (policy === 'check') {
    for (const index of wanting) {
      tell(
        index,
        states.get(index) === 'invalid'
          ? 'its index is invalid; drop it, and create it'
          : 'has no index; create it',
      )
    }
  } else if (kind === 'partitioned table') {
    for (const index of wanting) {
      const statement = createIndexSql(index).replace(' concurrently', '')
      report(
        `fields.${index.field}`,
        `has no index, and that of a partitioned table is yours to build: ${statement}`,
      )
    }
  } else if (database.mode === 'pooled') {
    for (const index of wanting) {
      const how = 'cannot be built behind a transaction pooler; declare it once over a direct connection'
      const isInvalid = states.get(index) === 'invalid'
      tell(
        index,
        isInvalid
          ? `its index is invalid, and ${how}, or drop it and create it`
          : `its index ${how}, or create it`,
      )
    }
  } else {
    logger.info(
      { table: table.name, indexes: wanting.map(({ name }) => name) },
      'builds the indexes of due rows',
    )
    try {
      await buildIndexes(database, table, wanting)
    } catch (error) {
      const { code, message } = error as { code?: string; message: string }
      if (!/^(42|0A|23|55)/.test(String(code))) throw error
      for (const index of wanting)
        tell(index, `its index could not be built (${message}); create it in a migration`)
    }
  }
}
