import { Readable } from 'node:stream'
import { alteredRequest } from './altered-request.js'
import type { FetchHandler } from './handler.js'
import { answer, type NodeRequest, type NodeResponse } from './node.js'

/** What we need of an instance of Fastify. */
export interface FastifyInstanceLike {
  readonly prefix: string
  removeAllContentTypeParsers(): void
  addContentTypeParser(contentType: string, options: never, parser: never): unknown
  all(path: string, handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => void): unknown
}

/** What we need of a request of Fastify. */
export interface FastifyRequestLike {
  readonly raw: NodeRequest
  readonly body: unknown
  readonly log: { error(facts: object, message: string): void }
}

/** What we need of a reply of Fastify. */
export interface FastifyReplyLike {
  readonly raw: NodeResponse
  readonly sent: boolean
  getHeaders(): Readonly<Record<string, number | string | string[] | undefined>>
  hijack(): unknown
  send(payload: unknown): unknown
}

export type FastifyPlugin = (instance: FastifyInstanceLike) => Promise<void>

/**
 * The handler as a plugin of Fastify, for `register(toFastifyPlugin(handler), { prefix: '/escapement' })`. Hooks of the
 * application run before it, headers that they set are sent, and bodies come to the handler as they are.
 */
export function toFastifyPlugin(handler: FetchHandler): FastifyPlugin {
  return async (instance) => {
    const mounted = withoutSegments(handler, instance.prefix.split('/').filter(Boolean).length)
    // Only in the scope of this plugin: the application's parsers stay as they are.
    instance.removeAllContentTypeParsers()
    instance.addContentTypeParser('*', {} as never, keepStream as never)
    const route = (request: FastifyRequestLike, reply: FastifyReplyLike) => pass(mounted, request, reply)
    instance.all('/', route)
    instance.all('/*', route)
  }
}

/** A parser that leaves the body as the stream it is. */
function keepStream(
  _request: unknown,
  payload: Readable,
  parsed: (error: null, body: Readable) => void,
): void {
  parsed(null, payload)
}

function pass(handler: FetchHandler, request: FastifyRequestLike, reply: FastifyReplyLike): void {
  answer(handler, request.raw, reply.raw, {
    payload: request.body instanceof Readable ? request.body : undefined,
    onSending() {
      reply.hijack()
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        if (value !== undefined) reply.raw.setHeader(name, value)
      }
    },
    onError(error) {
      if (!reply.sent) return void reply.send(error)
      request.log.error({ err: error }, 'an answer of Escapement broke off')
      reply.raw.destroy()
    },
  })
}

/**
 * Fastify leaves the path as it is, and has matched the prefix by rules of its own (parameters, letter case,
 * doubled slashes): so many segments are taken away, whatever they say.
 */
function withoutSegments(handler: FetchHandler, count: number): FetchHandler {
  const before = new RegExp(`^(?:/+[^/]+){${count}}`)
  return (request) => {
    const url = new URL(request.url)
    url.pathname = url.pathname.replace(before, '')
    return handler(alteredRequest(request, { url: url.href }))
  }
}
