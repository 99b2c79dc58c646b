import type { TransactionLike } from '../store/caller-transaction.js'
import { type DeclaredTable, inColumnNames, type RowDeclaration } from '../transitions/row-declaration.js'
import { splitAtPlaceholders } from './placeholders.js'

/** What we need of a transaction of drizzle-orm on PostgreSQL, whichever driver it has. */
export interface DrizzleTransaction<Query> {
  execute(query: Query): PromiseLike<unknown>
}

/** What we need of a table of drizzle-orm. */
export interface DrizzleTable {
  readonly $inferSelect: object
}

/**
 * A transaction of drizzle-orm, for `runs.enqueue(job, input, { tx: fromDrizzle(tx, sql) })`.
 *
 * @param sql the `sql` of your drizzle-orm, by which the statement is made one of its own
 */
export function fromDrizzle<Query>(
  tx: DrizzleTransaction<Query>,
  sql: (texts: TemplateStringsArray, ...values: unknown[]) => Query,
): TransactionLike
/**
 * A declaration in the names and types of a table of drizzle-orm, for `transitions.declare(fromDrizzle(posts, { fields }))`.
 */
export function fromDrizzle<Table extends DrizzleTable>(
  table: Table,
  declaration: RowDeclaration<Table['$inferSelect']>,
): DeclaredTable
export function fromDrizzle(
  given: DrizzleTransaction<unknown> | DrizzleTable,
  more: ((texts: TemplateStringsArray, ...values: unknown[]) => unknown) | RowDeclaration<object>,
): TransactionLike | DeclaredTable {
  return typeof more === 'function'
    ? transactionOf(given as DrizzleTransaction<unknown>, more)
    : declarationOf(given, more)
}

function transactionOf(
  tx: DrizzleTransaction<unknown>,
  sql: (texts: TemplateStringsArray, ...values: unknown[]) => unknown,
): TransactionLike {
  return {
    query(text, params) {
      const { texts, values } = splitAtPlaceholders(text, params)
      const query = sql(Object.assign(texts, { raw: texts }), ...values)
      return tx.execute(query) as ReturnType<TransactionLike['query']>
    },
  }
}

/** By these symbols drizzle-orm itself finds what a table is made of, also that of another copy. */
const NAME = Symbol.for('drizzle:Name')
const SCHEMA = Symbol.for('drizzle:Schema')
const COLUMNS = Symbol.for('drizzle:Columns')

function declarationOf(given: object, declaration: RowDeclaration<object>): DeclaredTable {
  const table = given as { [NAME]: string; [SCHEMA]?: string; [COLUMNS]: Record<string, { name: string }> }
  const schema = table[SCHEMA]
  return inColumnNames(
    { table: table[NAME], ...(schema !== undefined && { schema }) },
    declaration,
    (property) => table[COLUMNS][property]?.name,
  )
}
