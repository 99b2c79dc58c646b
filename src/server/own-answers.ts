import { originalOf } from './altered-request.js'

const own = new WeakSet<Request>()

/** Says of a request that its answer is written to the socket by us, as it is. */
export function noteOwnAnswer(request: Request): void {
  own.add(request)
}

/**
 * Whether what the headers of the answer say arrives. Frameworks that take a response of the fetch standard may leave out
 * `Content-Encoding`, as Next.js does, and what is compressed cannot be read then.
 */
export function isOwnAnswer(request: Request): boolean {
  return own.has(originalOf(request))
}
