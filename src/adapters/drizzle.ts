import type { TransactionLike } from '../store/caller-transaction.js'
import { splitAtPlaceholders } from './placeholders.js'

/** What we need of a transaction of drizzle-orm on PostgreSQL, whichever driver it has. */
export interface DrizzleTransaction<Query> {
  execute(query: Query): PromiseLike<unknown>
}

/**
 * A transaction of drizzle-orm, for `runs.enqueue(job, input, { tx: fromDrizzle(tx, sql) })`.
 *
 * @param sql the `sql` of your drizzle-orm, by which the statement is made one of its own
 */
export function fromDrizzle<Query>(
  tx: DrizzleTransaction<Query>,
  sql: (texts: TemplateStringsArray, ...values: unknown[]) => Query,
): TransactionLike {
  return {
    query(text, params) {
      const { texts, values } = splitAtPlaceholders(text, params)
      const query = sql(Object.assign(texts, { raw: texts }), ...values)
      return tx.execute(query) as ReturnType<TransactionLike['query']>
    },
  }
}
