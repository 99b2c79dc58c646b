import { X509Certificate } from 'node:crypto'
import tls from 'node:tls'
import type { RetryPolicy } from '../runs/retry-delay.js'
import { LARGEST_RESULT_BYTES } from '../runs/storable.js'
import { didYouMean } from '../time/did-you-mean.js'
import { type DurationInput, readElapsed } from '../time/duration.js'
import { quote, type Report } from '../time/report.js'
import { LONGEST_TIMEOUT_MS } from './input.js'
import { type Rules, readPlaces } from './place.js'
import { readSecret } from './signature.js'

/** What `httpJob` takes, and `http` in the configuration file. */
export interface HttpJobOptions {
  /**
   * What may be called although it is refused by itself: private addresses and, where an entry begins with `http://`, plain http. A host
   * (`hooks.internal`), all below one (`*.internal`), an address or a range of them (`10.0.0.0/8`); with `:port` that port alone. A name
   * is allowed with whatever addresses it has.
   * @default []
   */
  allow?: readonly string[]
  /**
   * Limits everything: nothing else is called. The same entries as those of `allow`, which is no exception to it, without `http://`.
   * Without it, whatever is public.
   */
  only?: readonly string[]
  /**
   * What calls are signed with, by name: `whsec_` and base64, as in Standard Webhooks; several separated by spaces give several signatures,
   * so that receivers can change from one to the other. The one named `default` signs calls that name none.
   * @default {}
   */
  secrets?: Readonly<Record<string, string>>
  /**
   * Certificates, in PEM, of authorities that are trusted besides those that Node brings: for receivers of your own. Those of
   * NODE_EXTRA_CA_CERTS stay trusted with Node 22.15, 23.10 and newer; with an older one give them here as well.
   */
  ca?: string | readonly string[]
  /**
   * How long a call may take that does not say so itself. At most '15 minutes'.
   * @default '30s'
   */
  timeout?: DurationInput
  /**
   * How many bytes of an answer are read; the rest is not waited for. At most 16 KiB, which is what a result holds.
   * @default 16384
   */
  maxResponse?: number
  /**
   * When a call that failed is followed by another. What a receiver says with `Retry-After` goes first.
   * @default { attempts: 5, backoff: { first: '10s', factor: 4 } }
   */
  retry?: RetryPolicy
}

export const HTTP_JOB_DEFAULTS = {
  allow: [],
  secrets: {},
  timeout: '30s',
  maxResponse: 16_384,
  retry: { attempts: 5, backoff: { first: '10s', factor: 4 } },
} satisfies HttpJobOptions

export interface HttpJobSettings {
  rules: Rules
  secrets: ReadonlyMap<string, readonly Buffer[]>
  secureContext: tls.SecureContext
  timeoutMs: number
  maxResponse: number
}

const KNOWN = [...Object.keys(HTTP_JOB_DEFAULTS), 'only', 'ca']

export function readHttpJobOptions(options: HttpJobOptions, report: Report): HttpJobSettings {
  for (const name of Object.keys(options)) {
    if (!KNOWN.includes(name)) report(name, `unknown option${didYouMean(name, KNOWN)}`)
  }
  const { allow, secrets, timeout, maxResponse } = { ...HTTP_JOB_DEFAULTS, ...options }
  const timeoutMs = readElapsed(timeout, 'timeout', report) ?? 1
  if (timeoutMs < 1 || timeoutMs > LONGEST_TIMEOUT_MS) {
    report('timeout', `${quote(timeout)} – must be longer than nothing, and at most 15 minutes`)
  }
  if (!Number.isInteger(maxResponse) || maxResponse < 0 || maxResponse > LARGEST_RESULT_BYTES) {
    report(
      'maxResponse',
      `${quote(maxResponse)} – must be a whole number of bytes up to ${LARGEST_RESULT_BYTES}`,
    )
  }
  return {
    rules: { allow: readPlaces(allow, 'allow', report), only: readOnly(options.only, report) },
    secrets: readSecrets(secrets, report),
    secureContext: readAuthorities(options.ca, report),
    timeoutMs,
    maxResponse,
  }
}

function readOnly(only: HttpJobOptions['only'], report: Report): Rules['only'] {
  if (only === undefined) return null
  const places = readPlaces(only, 'only', report)
  if (Array.isArray(only) && only.length === 0) {
    report('only', '[] – permits nothing; name a place, or leave it out')
  }
  if (places.some(({ permitsPlain }) => permitsPlain)) {
    report('only', `${quote(only)} – leave out http://: plain http is permitted by "allow"`)
  }
  return places
}

function readSecrets(secrets: unknown, report: Report): Map<string, Buffer[]> {
  if (typeof secrets !== 'object' || secrets === null || Array.isArray(secrets)) {
    report('secrets', 'must be an object of secrets by name')
    return new Map()
  }
  return new Map(
    Object.entries(secrets).map(([name, secret]) => [name, readSecret(secret, `secrets.${name}`, report)]),
  )
}

function readAuthorities(ca: HttpJobOptions['ca'], report: Report): tls.SecureContext {
  if (ca === undefined) return tls.createSecureContext()
  const given: unknown[] = Array.isArray(ca) ? ca : [ca]
  const isCertificate = (pem: unknown): pem is string => {
    try {
      return typeof pem === 'string' && new X509Certificate(pem) !== null
    } catch {
      return false
    }
  }
  const known = given.filter(isCertificate)
  if (known.length < given.length) {
    report('ca', 'must be certificates in PEM: -----BEGIN CERTIFICATE----- …')
    return tls.createSecureContext()
  }
  return tls.createSecureContext({ ca: [...trustedByNode(), ...known] })
}

/** Not in Node 20. */
type TlsOfNode22 = typeof tls & { getCACertificates?(type: 'default'): readonly string[] }

/** With those of NODE_EXTRA_CA_CERTS, where Node can tell them. */
function trustedByNode(): readonly string[] {
  const { getCACertificates, rootCertificates } = tls as TlsOfNode22
  return getCACertificates?.('default') ?? rootCertificates
}
