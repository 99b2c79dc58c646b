import { quote, type Report } from '../time/report.js'
import type { Queryable } from './database.js'
import { parameterText } from './parameters.js'

/**
 * A transaction of the caller's, in which a statement of ours takes part: a `pg` client on which one was begun, the `tx`
 * of `escapement.database.transaction`, or what `escapement/drizzle`, `/kysely`, `/prisma` and `/knex` make of theirs.
 */
export interface TransactionLike {
  /** Parameters are `$1`, `$2`, … in the text, and text or null as values. */
  query(text: string, params: (string | null)[]): PromiseLike<readonly object[] | { rows: readonly object[] }>
}

/** The caller's transaction as a connection that our statements can use. */
export function overTransaction(tx: TransactionLike): Queryable {
  return {
    async query<Row>(text: string, params: Parameters<Queryable['query']>[1] = []) {
      const answer = await tx.query(text, params.map(parameterText))
      return (Array.isArray(answer) ? answer : (answer as { rows: readonly object[] }).rows) as Row[]
    },
  }
}

/** By what the transactions of other libraries are told apart, and what makes them fit. */
const ADAPTERS: readonly (readonly [method: string, adapter: string])[] = [
  ['$queryRawUnsafe', "fromPrisma(tx) from 'escapement/prisma'"],
  ['executeQuery', "fromKysely(tx) from 'escapement/kysely'"],
  ['raw', "fromKnex(tx) from 'escapement/knex'"],
  ['execute', "fromDrizzle(tx, sql) from 'escapement/drizzle'"],
]

export function checkTransaction(tx: unknown, field: string, report: Report): void {
  const given = (tx ?? {}) as Record<string, unknown>
  if (typeof given.query === 'function') {
    // Both would run it at once, whatever becomes of the transaction that the caller has in mind.
    if ('totalCount' in given) report(field, 'is a pool; give the client on which the transaction was begun')
    else if ('transaction' in given) report(field, 'is a database; give what its transaction() hands over')
    return
  }
  const [, adapter] = ADAPTERS.find(([method]) => typeof given[method] === 'function') ?? []
  const expected = adapter ?? 'expected a pg client, or the tx of escapement.database.transaction'
  report(field, adapter ? `is of another library; give ${adapter}` : `${quote(tx)} – ${expected}`)
}
