import { EscapementError } from '../errors.js'
import type { Escapement } from '../escapement.js'
import { type ApiHandler, createHandler } from './handler.js'
import { type ListeningServer, listen } from './listen.js'
import type { HandlerOptions } from './options.js'

/** What `serve` takes. */
export interface ServeOptions extends Omit<HandlerOptions, 'auth'> {
  /**
   * The address to listen on. One that other machines can reach needs a token first.
   * @default '127.0.0.1'
   */
  host?: string
  /**
   * 0 takes any that is free.
   * @default 4680
   */
  port?: number
}

export const SERVE_DEFAULTS = { host: '127.0.0.1', port: 4680 } satisfies ServeOptions

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i

export interface ApiServer extends ListeningServer {
  /**
   * From now on another one answers, on the same port: of the same database, with other jobs or options. Streams of events are
   * ended, and their readers come back.
   */
  answerBy(escapement: Escapement): void
}

/** Serves the API by itself. While no token was ever made, whoever is on this machine is let in. */
export async function serve(escapement: Escapement, options: ServeOptions = {}): Promise<ApiServer> {
  const { host = SERVE_DEFAULTS.host, port = SERVE_DEFAULTS.port, ...rest } = options
  const isLocal = LOOPBACK.test(host)
  if (!isLocal && !(await escapement.tokens.exist())) throw tokenFirst(host)
  const handlerOf = (by: Escapement) => createHandler(by, { ...rest, auth: isLocal ? 'local' : 'tokens' })
  let handler: ApiHandler = handlerOf(escapement)
  const server = await listen((request) => handler(request), { host, port })
  return {
    url: server.url,
    answerBy(next) {
      const last = handler
      handler = handlerOf(next)
      last.close()
    },
    async close() {
      // Streams of events first: they would not end by themselves.
      handler.close()
      await server.close()
    },
  }
}

function tokenFirst(host: string): EscapementError {
  return new EscapementError('option_invalid', {
    message: `host: "${host}" can be reached from other machines, and there is no token yet. Make one first: escapement tokens create <name> --role admin`,
    details: { host },
  })
}
