import type { TransactionLike } from '../store/caller-transaction.js'
import { splitAtPlaceholders } from './placeholders.js'

/** What we need of a transaction of Knex on PostgreSQL. */
export interface KnexTransaction {
  raw(sql: string, bindings: never): PromiseLike<unknown>
}

/** A transaction of Knex, for `runs.enqueue(job, input, { tx: fromKnex(trx) })`. */
export function fromKnex(trx: KnexTransaction): TransactionLike {
  return {
    query(text, params) {
      const { texts, values } = splitAtPlaceholders(text, params)
      // Its placeholder is the question mark; one that is meant as such has a backslash before it.
      const sql = texts.map((part) => part.replaceAll('?', '\\?')).join('?')
      return trx.raw(sql, values as never) as ReturnType<TransactionLike['query']>
    },
  }
}
