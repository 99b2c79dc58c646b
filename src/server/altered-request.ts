export interface Alteration {
  url?: string
  headers?: Headers
  body?: Uint8Array | ReadableStream<Uint8Array> | null
}

/**
 * Which object keeps which request alive. Node's `Request` follows the signal that it is given by a weak reference: a
 * request that nobody holds any more is collected, and who listens to its signal then never hears that the client has
 * gone. So the signal keeps the request that follows it, and that one keeps the request whose signal it is.
 */
const keeps = new WeakMap<object, Request>()

/** The same request but for what is given. The body of the original goes over to it. */
export function alteredRequest(request: Request, alteration: Alteration): Request {
  const { url = request.url, headers = request.headers, body = request.body } = alteration
  const init = { method: request.method, headers, body, signal: request.signal, duplex: 'half' as const }
  const altered = new Request(url, init)
  keeps.set(request.signal, altered)
  keeps.set(altered, request)
  return altered
}

/** The request as it came to us, before a prefix was taken away or its body was decoded. */
export function originalOf(request: Request): Request {
  let original = request
  for (let before = keeps.get(original); before !== undefined; before = keeps.get(original)) original = before
  return original
}
