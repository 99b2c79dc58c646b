import { once } from 'node:events'
import http from 'node:http'
import type tls from 'node:tls'
import { dial } from './dial.js'
import { type Rules, targetOf } from './place.js'

/** What is sent. */
export interface Call {
  url: URL
  method: string
  headers: Readonly<Record<string, string>>
  body: Buffer
}

/** What came back, as far as it was read. */
export interface Answer {
  status: number
  headers: http.IncomingHttpHeaders
  body: Buffer
  /** There was more of the body. */
  isCut: boolean
}

export interface Line {
  rules: Rules
  secureContext: tls.SecureContext
  /** How many bytes of a body are read. */
  maxResponse: number
}

/** What follows it is of another protocol, and no body. */
const SWITCHED = 101

/** One call over a connection of its own, which is gone afterwards. No agent: neither its pool nor a proxy of the environment. */
export async function exchange(call: Call, line: Line, signal: AbortSignal): Promise<Answer> {
  const { url, method, headers, body } = call
  const socket = await dial(targetOf(url), line, signal)
  try {
    const request = http.request({
      createConnection: () => socket,
      method,
      path: url.pathname + url.search,
      headers: { host: url.host, ...headers },
    })
    // One that turns to another protocol ends the request without a response: it would be waited for beyond every deadline.
    const answered = Promise.race([
      once(request, 'response', { signal }),
      once(request, 'upgrade', { signal }),
    ])
    // A receiver may answer, and hang up, before it has taken all of a body.
    request.on('error', () => {})
    request.end(body)
    const [response] = (await answered) as [http.IncomingMessage]
    const status = response.statusCode!
    const content =
      status === SWITCHED
        ? { body: Buffer.alloc(0), isCut: false }
        : await readUpTo(line.maxResponse, response)
    return { status, headers: response.headers, ...content }
  } finally {
    socket.destroy()
  }
}

async function readUpTo(
  most: number,
  response: http.IncomingMessage,
): Promise<Pick<Answer, 'body' | 'isCut'>> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > most) break
  }
  return { body: Buffer.concat(chunks).subarray(0, most), isCut: bytes > most }
}
