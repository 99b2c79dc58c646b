import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { EscapementError } from '../errors.js'
import { type DurationInput, durationToMs } from '../time/duration.js'
import type { FetchHandler } from './handler.js'
import { toNodeHandler } from './node.js'

export interface ListeningServer {
  readonly url: string
  close(): Promise<void>
}

interface ListenOptions {
  /** 0 takes any that is free. */
  port: number
  host: string
  /**
   * How long a client may take nothing of what waits for it before its connection is ended: one that went to sleep, or never
   * meant to read. One that waits for us has all the time.
   * @default '30s'
   */
  sendTimeout?: DurationInput
}

export const LISTEN_DEFAULTS = { sendTimeout: '30s' } satisfies Partial<ListenOptions>

/** For the whole of a request to arrive: a client that stalls keeps what it has sent in our memory. */
const REQUEST_TIMEOUT_MS = 60_000
const HEADERS_TIMEOUT_MS = 15_000
/** For answers that are under way when the server stops. */
const CLOSING_MS = 3_000

/** Serves a handler. */
export async function listen(
  handler: FetchHandler,
  { host, port, sendTimeout = LISTEN_DEFAULTS.sendTimeout }: ListenOptions,
): Promise<ListeningServer> {
  const sendTimeoutMs = durationToMs(sendTimeout, 'sendTimeout')
  const answer = toNodeHandler(handler)
  const server = createServer((req, res) => {
    res.setTimeout(sendTimeoutMs, () => {
      if (res.writableNeedDrain) res.destroy()
    })
    answer(req, res)
  })
  server.requestTimeout = REQUEST_TIMEOUT_MS
  server.headersTimeout = HEADERS_TIMEOUT_MS
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    throw new EscapementError('port_unavailable', {
      message: `Cannot listen on ${host}:${port}: ${reasonOf(error)} Choose another with --port, or --port 0 for any.`,
      details: { host, port },
      cause: error,
    })
  }
  const address = server.address() as AddressInfo
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return {
    url: `http://${name}:${address.port}`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeIdleConnections()
      const deadline = setTimeout(() => server.closeAllConnections(), CLOSING_MS)
      await closed
      clearTimeout(deadline)
    },
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return 'the port is in use.'
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return 'this machine has no such address.'
  if (code === 'EACCES') return 'not allowed.'
  return `${message}.`
}
