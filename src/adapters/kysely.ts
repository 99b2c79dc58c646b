import type { TransactionLike } from '../store/caller-transaction.js'

/** What we need of a transaction of Kysely on PostgreSQL. */
export interface KyselyTransaction {
  executeQuery(query: never): PromiseLike<{ rows: unknown[] }>
}

/** A transaction of Kysely, for `runs.enqueue(job, input, { tx: fromKysely(trx) })`. */
export function fromKysely(trx: KyselyTransaction): TransactionLike {
  return {
    query(text, params) {
      // A compiled query, as its `CompiledQuery.raw` makes one.
      const query = { kind: 'RawNode', sqlFragments: [text], parameters: [] }
      const compiled = { sql: text, parameters: params, query, queryId: { queryId: 'escapement' } }
      return trx.executeQuery(compiled as never) as ReturnType<TransactionLike['query']>
    },
  }
}
