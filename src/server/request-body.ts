import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { finished, PassThrough, Readable } from 'node:stream'
import { EscapementError } from '../errors.js'
import { alteredRequest } from './altered-request.js'

/** What body parsers leave on a request. */
interface Parsed {
  body?: unknown
  /** As it came, where the application keeps it (for signatures of webhooks, say). */
  rawBody?: unknown
}

const BODILESS = new Set(['GET', 'HEAD'])

/**
 * The request with its body, also where a body parser in front has read it. `payload` is the stream to read it from,
 * which is not the request itself where the framework has put something between, such as a decompression.
 */
export function withBody(
  request: Request,
  req: IncomingMessage,
  res: ServerResponse,
  payload: Readable,
): Request {
  if (BODILESS.has(request.method) || !hasBody(req)) return request
  if (payload !== req) {
    return alteredRequest(request, { headers: decodedHeaders(request), body: streamOf(payload, res) })
  }
  if (!req.readableDidRead) return alteredRequest(request, { body: streamOf(req, res) })
  return alteredRequest(request, { headers: decodedHeaders(request), body: keptBody(req) })
}

function hasBody(req: IncomingMessage | Http2ServerRequest): boolean {
  if ('stream' in req) return !req.stream.endAfterHeaders
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0
}

/**
 * The stream as the fetch standard has it, read only as fast as the handler reads. What the handler leaves unread is
 * thrown away once it has answered, so that the connection serves the next request. (`Readable.toWeb` of the request
 * itself would close the connection when the handler cancels the stream, and with it the answer.)
 */
function streamOf(payload: Readable, res: ServerResponse): ReadableStream<Uint8Array> {
  const body = new PassThrough()
  payload.pipe(body)
  finished(payload, { writable: false }, (error) => {
    if (error) body.destroy(error)
  })
  res.once('finish', () => {
    payload.unpipe(body)
    payload.resume()
  })
  return Readable.toWeb(body) as ReadableStream<Uint8Array>
}

/** Who parses a body has also undone its encoding, and its length is another one. */
function decodedHeaders(request: Request): Headers {
  const headers = new Headers(request.headers)
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) headers.delete(name)
  return headers
}

/** The bytes that a parser has read: as it kept them, else written again from what it made of them. */
function keptBody(req: IncomingMessage): Uint8Array {
  const { rawBody, body } = req as Parsed
  const type = req.headers['content-type'] ?? ''
  for (const kept of [rawBody, body]) {
    if (kept instanceof Uint8Array) return kept
    if (typeof kept === 'string') return Buffer.from(kept)
  }
  if (body !== undefined && !/^multipart\//i.test(type)) {
    const text = /^application\/x-www-form-urlencoded\b/i.test(type) ? formText(body) : JSON.stringify(body)
    if (text !== undefined) return Buffer.from(text)
  }
  throw new EscapementError('body_consumed', {
    message:
      'The body of this request was read before it came to Escapement, and not kept. Mount Escapement before what ' +
      'reads it, or have that keep the bytes as req.rawBody.',
    details: { contentType: type },
  })
}

/** Undefined where a value is more than text, for which forms have no one way to write it. */
function formText(body: unknown): string | undefined {
  const fields = Object.entries(body ?? {}).flatMap(([name, values]) =>
    [values].flat().map((value) => [name, value]),
  )
  if (!fields.every(([, value]) => typeof value === 'string')) return undefined
  return new URLSearchParams(fields as [string, string][]).toString()
}
