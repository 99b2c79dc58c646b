import type { TransactionLike } from '../store/caller-transaction.js'

/** What we need of the client that Prisma's `$transaction` hands over. */
export interface PrismaTransaction {
  $queryRawUnsafe(query: string, ...values: unknown[]): PromiseLike<unknown>
}

/** An interactive transaction of Prisma, for `runs.enqueue(job, input, { tx: fromPrisma(tx) })`. */
export function fromPrisma(tx: PrismaTransaction): TransactionLike {
  return {
    query: (text, params) => tx.$queryRawUnsafe(text, ...params) as ReturnType<TransactionLike['query']>,
  }
}
