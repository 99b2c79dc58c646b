import { EscapementError } from '../errors.js'
import type { RequestHeader } from '../server/route.js'
import { didYouMean } from '../time/did-you-mean.js'
import { quote, type Report, readOrThrow } from '../time/report.js'
import {
  type Body,
  type CallOptions,
  KNOWN_HEADERS,
  OPERATIONS,
  type Operation,
  type Query,
} from './operations.js'

export interface Sent<Name extends Operation> {
  params?: Readonly<Record<string, string>>
  query?: Query<Name> | undefined
  body?: Body<Name> | undefined
}

/** Those of all operations. */
export interface AnyCallOptions extends CallOptions {
  expectedVersion?: number | undefined
  idempotencyKey?: string | undefined
  lastEventId?: string | undefined
}

/** Where to, and as whom. */
export interface Target {
  base: string
  token: string | undefined
  timeoutMs: number
}

/** The request of an operation; `option_invalid` for what cannot be sent, or would be taken for something else. */
export function makeRequest(
  { base, token, timeoutMs: usualMs }: Target,
  name: Operation,
  { params = {}, query, body }: Sent<Operation>,
  options: AnyCallOptions,
): Request {
  const [method, template] = OPERATIONS[name]
  const path = readOrThrow('option_invalid', (report) => {
    checkOptions(name, options, report)
    return template.replaceAll(/\{(\w+)\}/g, (_, key: string) => segmentOf(key, params[key], report))
  })
  try {
    return new Request(`${base}/api/v1${path}${searchOf(query ?? {})}`, {
      method: method.toUpperCase(),
      headers: headersOf(token, options, body !== undefined),
      // A redirected POST would become a GET, and the token go who knows where.
      redirect: 'manual',
      signal: signalOf(options.signal, options.timeoutMs ?? usualMs),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  } catch (cause) {
    throw new EscapementError('option_invalid', {
      message: `The request cannot be made: ${(cause as Error).message}`,
      cause,
    })
  }
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** A parameter as one segment of a path. An empty one, `.` and `..` would make it the path of another operation. */
function segmentOf(key: string, value: unknown, report: Report): string {
  const refuse = (message: string) => {
    report(key, `${quote(value)} – ${message}`)
    return ''
  }
  if (typeof value !== 'string' || value === '') return refuse('must be a text that is not empty')
  if (key === 'id' && !UUID.test(value)) return refuse('must be an id, which is a UUID')
  // As `isWellFormed` of newer engines.
  if (/\p{Surrogate}/u.test(value)) return refuse('must not hold half a surrogate pair')
  const segment = encodeURIComponent(value)
  const { pathname } = new URL(`http://localhost/a/${segment}/b`)
  return pathname === `/a/${segment}/b` ? segment : refuse('cannot be part of a path')
}

const OPTION_OF = {
  'If-Match': 'expectedVersion',
  'If-None-Match': 'expectedVersion',
  'Idempotency-Key': 'idempotencyKey',
  'Last-Event-ID': 'lastEventId',
} as const satisfies Record<RequestHeader, string>

/** A header has no other letters, and loses white space at its ends. */
const HEADER_TEXT = /^(?! )[ -~]*(?<! )$/
/** A longer one would overflow, and end at once. */
const LONGEST_TIMEOUT_MS = 2_147_483_647

function checkOptions(name: Operation, options: AnyCallOptions, report: Report): void {
  const known: Partial<Record<Operation, readonly RequestHeader[]>> = KNOWN_HEADERS
  const headers = known[name] ?? []
  const taken = ['timeoutMs', 'signal', ...headers.map((header) => OPTION_OF[header])]
  for (const [field, value] of Object.entries(options)) {
    if (value !== undefined && !taken.includes(field)) {
      report(field, `"${name}" has no such option${didYouMean(field, taken)}`)
    }
  }
  const { expectedVersion, idempotencyKey, lastEventId, timeoutMs } = options
  if (expectedVersion === 0 && headers.includes('If-Match') && !headers.includes('If-None-Match')) {
    report('expectedVersion', '0 – is for what creates: give the version that was read')
  }
  if (expectedVersion !== undefined && !(Number.isSafeInteger(expectedVersion) && expectedVersion >= 0)) {
    report('expectedVersion', `${quote(expectedVersion)} – must be a whole number, 0 or greater`)
  }
  if (idempotencyKey !== undefined && !(isHeaderText(idempotencyKey) && idempotencyKey !== '')) {
    report(
      'idempotencyKey',
      `${quote(idempotencyKey)} – must be printable ASCII; any other text can be the key in the body`,
    )
  }
  if (lastEventId !== undefined && !isHeaderText(lastEventId)) {
    report('lastEventId', `${quote(lastEventId)} – must be the id of an event`)
  }
  if (timeoutMs !== undefined) checkTimeout(timeoutMs, report)
}

function isHeaderText(value: unknown): boolean {
  return typeof value === 'string' && HEADER_TEXT.test(value)
}

export function checkTimeout(timeoutMs: unknown, report: Report): void {
  if (timeoutMs === Number.POSITIVE_INFINITY) return
  if (typeof timeoutMs === 'number' && timeoutMs >= 0 && timeoutMs <= LONGEST_TIMEOUT_MS) return
  report(
    'timeoutMs',
    `${quote(timeoutMs)} – must be milliseconds, at most ${LONGEST_TIMEOUT_MS}, or Infinity for no limit`,
  )
}

function searchOf(query: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  if (given.length === 0) return ''
  return `?${new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)])))}`
}

function headersOf(token: string | undefined, options: AnyCallOptions, hasBody: boolean): Headers {
  const headers = new Headers({ accept: 'application/json' })
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
  if (hasBody) headers.set('content-type', 'application/json')
  const { expectedVersion, idempotencyKey, lastEventId } = options
  if (expectedVersion === 0) headers.set('if-none-match', '*')
  else if (expectedVersion !== undefined) headers.set('if-match', `"${expectedVersion}"`)
  if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey)
  if (lastEventId !== undefined) headers.set('last-event-id', lastEventId)
  return headers
}

function signalOf(signal: AbortSignal | undefined, timeoutMs: number): AbortSignal | null {
  if (timeoutMs === Number.POSITIVE_INFINITY) return signal ?? null
  const deadline = AbortSignal.timeout(timeoutMs)
  return signal ? AbortSignal.any([signal, deadline]) : deadline
}
