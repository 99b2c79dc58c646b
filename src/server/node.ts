import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { isIPv6 } from 'node:net'
import type { Readable } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { FetchHandler } from './handler.js'
import { noteOwnAnswer } from './own-answers.js'
import { problemResponse } from './problems.js'
import { withBody } from './request-body.js'
import { sendResponse } from './send-response.js'

export type NodeRequest = IncomingMessage | Http2ServerRequest
export type NodeResponse = ServerResponse | Http2ServerResponse

/** What Express takes as middleware, and `node:http` as its listener. */
export type NodeHandler = (req: NodeRequest, res: NodeResponse, next?: (error?: unknown) => void) => void

/**
 * The handler for Express and for `node:http`. It answers every request that it is given: `next` is called only with
 * an error. It believes the connection alone: `X-Forwarded-*` is not looked at.
 */
export function toNodeHandler(handler: FetchHandler): NodeHandler {
  return (req, res, next) => answer(handler, req, res, { onError: next })
}

export interface AnswerOptions {
  /** Is told what went wrong, and answers in our place where nothing was sent yet. */
  onError?: ((error: unknown) => void) | undefined
  /** Is called before the first byte is written. */
  onSending?: () => void
  /** Where the body is read from, if not from the request. */
  payload?: Readable | undefined
}

/**
 * Makes a request of the fetch standard out of Node's, and writes what the handler answers. Hono's listener does the
 * first, and tells the request when its client goes away. The second we do: Hono leaves a body open whose client went
 * away early, closes connections on which a body stays unread, and prints errors on the console.
 */
export function answer(
  handler: FetchHandler,
  nodeRequest: NodeRequest,
  nodeResponse: NodeResponse,
  { onError, onSending, payload }: AnswerOptions,
): void {
  // What we use of them is the same in HTTP/2.
  const req = nodeRequest as IncomingMessage
  const res = nodeResponse as ServerResponse
  let begun = false
  const send = (response: Response, gone?: AbortSignal) => {
    if (!res.headersSent) {
      begun = true
      onSending?.()
    }
    return sendResponse(response, req, res, gone)
  }
  const fail = async (error: unknown, gone: AbortSignal): Promise<void> => {
    // Half an answer must not look like a whole one.
    if (begun && res.headersSent) res.destroy()
    // What breaks off because the client has gone is nobody's mistake.
    if (gone.aborted) return
    if (onError) return onError(error)
    await send(problemResponse('internal_error', { detail: 'Something went wrong.' }))
  }
  const respond = async (request: Request): Promise<Response> => {
    const { signal } = request
    noteOwnAnswer(request)
    try {
      const refusal = refusalOf(request)
      await send(refusal ?? (await handler(withBody(request, req, res, payload ?? req))), signal)
    } catch (error) {
      await fail(error, signal)
    }
    return RESPONSE_ALREADY_SENT
  }
  const listener = getRequestListener(respond, {
    hostname: localHost(req),
    // The application's Request and Response are not ours to replace.
    overrideGlobalObjects: false,
    errorHandler: () => send(badAddress()),
  })
  void listener(req, res)
}

/** What no handler can be given: the fetch standard has no request of these methods, and some hosts are no part of a URL. */
function refusalOf({ method, url }: Request): Response | undefined {
  if (!URL.canParse(url)) return badAddress()
  if (method !== 'TRACE' && method !== 'CONNECT') return undefined
  return problemResponse('method_not_allowed', {
    detail: `${method} is not possible here.`,
    headers: { allow: 'GET, HEAD, POST, PUT, PATCH, DELETE' },
  })
}

function badAddress(): Response {
  return problemResponse('malformed_request', { detail: 'This host or path is not a valid one.' })
}

/** For requests that name no host, as HTTP/1.0 allows: the address that the client reached. */
function localHost({ socket }: IncomingMessage): string {
  const { localAddress, localPort } = socket
  if (localAddress === undefined) return 'localhost'
  const address = localAddress.replace(/^::ffff:(?=\d+\.)|%.*$/g, '')
  return `${isIPv6(address) ? `[${address}]` : address}:${localPort}`
}
