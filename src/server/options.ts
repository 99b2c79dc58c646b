import { type Logger, silentLogger } from '../logger.js'
import { didYouMean } from '../time/did-you-mean.js'
import { quote, readOrThrow } from '../time/report.js'
import type { CustomIdentity } from './authentication.js'
import type { EventHubOptions } from './event-hub.js'

/** What `createHandler` takes. */
export interface HandlerOptions {
  /**
   * The path under which it is mounted, such as `/escapement`, whether the framework strips it or not.
   * @default ''
   */
  prefix?: string
  /**
   * Who is let in without a token: nobody (`tokens`), or whoever is on this machine while no token was ever made
   * (`local`). `local` is for a server that listens on a loopback address and has no proxy before it.
   * @default 'tokens'
   */
  auth?: 'tokens' | 'local'
  /**
   * The application's own way to know who asks: by its session, say. It gets the request without its body. Null leaves it to tokens. Requests that change something and
   * come from a page of another origin are refused.
   */
  authenticate?: (request: Request) => CustomIdentity | Promise<CustomIdentity>
  /**
   * Other origins whose pages may use a session, such as `https://ops.example.com` where a proxy changes the `Host`.
   * @default []
   */
  origins?: readonly string[]
  /**
   * The largest body that is read, in bytes.
   * @default 4194304
   */
  bodyLimit?: number
  /**
   * Names of fields, in any case, whose values are not shown, wherever they are in an input, a result, metadata or a change.
   * @default []
   */
  redact?: readonly string[]
  /**
   * Whether the dashboard is served, at the prefix itself.
   * @default true
   */
  dashboard?: boolean
  /** How events are streamed. */
  events?: EventHubOptions
  /** Where operators read of what went wrong. Without it nothing is written. */
  logger?: Logger
}

export const HANDLER_DEFAULTS = {
  prefix: '',
  auth: 'tokens',
  origins: [],
  bodyLimit: 4_194_304,
  redact: [],
  dashboard: true,
} satisfies HandlerOptions

export type HandlerSettings = Required<Omit<HandlerOptions, 'authenticate' | 'events'>> &
  Pick<HandlerOptions, 'authenticate' | 'events'>

const KNOWN = [...Object.keys(HANDLER_DEFAULTS), 'authenticate', 'events', 'logger']
const PREFIX = /^(?:\/[\w.~-]+)*$/

export function readHandlerOptions(options: HandlerOptions): HandlerSettings {
  return readOrThrow('option_invalid', (report) => {
    for (const field of Object.keys(options)) {
      if (!KNOWN.includes(field)) report(field, `unknown option${didYouMean(field, KNOWN)}`)
    }
    const settings = { ...HANDLER_DEFAULTS, logger: silentLogger, ...options } as HandlerSettings
    const { prefix, auth, origins, bodyLimit, redact, dashboard, authenticate } = settings
    if (typeof prefix !== 'string' || !PREFIX.test(prefix) || /\/\.{1,2}(?:\/|$)/.test(prefix)) {
      report(
        'prefix',
        `${quote(prefix)} – must be empty or a path such as "/escapement", without a slash at its end`,
      )
    }
    if (auth !== 'tokens' && auth !== 'local') report('auth', `${quote(auth)} – must be "tokens" or "local"`)
    const isOrigin = (text: unknown) =>
      typeof text === 'string' && URL.canParse(text) && new URL(text).origin === text
    if (!Array.isArray(origins) || !origins.every(isOrigin)) {
      report('origins', `${quote(origins)} – must be a list such as ["https://ops.example.com"]`)
    }
    if (!Number.isInteger(bodyLimit) || bodyLimit < 1) {
      report('bodyLimit', `${quote(bodyLimit)} – must be a whole number of bytes`)
    }
    if (!Array.isArray(redact) || !redact.every((name) => typeof name === 'string' && name !== '')) {
      report('redact', `${quote(redact)} – must be a list of field names`)
    }
    if (typeof dashboard !== 'boolean') {
      report('dashboard', `${quote(dashboard)} – must be true or false`)
    }
    if (authenticate !== undefined && typeof authenticate !== 'function') {
      report('authenticate', `${quote(authenticate)} – must be a function`)
    }
    return settings
  })
}
