import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { EscapementError } from '../errors.js'
import type { FetchHandler } from './handler.js'

export interface ListeningServer {
  readonly url: string
  close(): Promise<void>
}

/** Serves the handler on loopback. Port 0 takes any that is free. */
export async function listen(handler: FetchHandler, port: number): Promise<ListeningServer> {
  const server = createAdaptorServer({ fetch: handler })
  server.listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    throw new EscapementError('port_unavailable', {
      message: `Cannot listen on 127.0.0.1:${port}: ${reasonOf(error)} Choose another with --port, or --port 0 for any.`,
      details: { port },
      cause: error,
    })
  }
  const address = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      server.close()
      if ('closeAllConnections' in server) server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return 'the port is in use.'
  if (code === 'EACCES') return 'not allowed.'
  return `${message}.`
}
