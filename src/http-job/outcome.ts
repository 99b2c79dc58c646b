/** What an answer means for the run: a result, another attempt, or its end. */
import type http from 'node:http'
import { NonRetryableError, RetryAfterError } from '../runs/retry-delay.js'
import { LARGEST_RESULT_BYTES, storableJson, storablePrefix } from '../runs/storable.js'
import { isShallow } from './depth.js'
import type { Answer, Call } from './exchange.js'
import { retryAfterMs } from './retry-after.js'
import { toldUrl } from './told-url.js'

/** What a run of the job `http` has as its result. */
export interface HttpJobResult {
  status: number
  /** Those that say what the body is and where to ask on. */
  headers: Readonly<Record<string, string>>
  /** Parsed if it is JSON, else text; null where there is none. */
  body: unknown
  /** Only the beginning of the body was kept, as text. */
  truncated?: true
  durationMs: number
}

const KEPT_HEADERS = ['content-type', 'etag', 'location', 'x-request-id'] as const
const LONGEST_HEADER = 500
const QUOTED_BODY = 500
const RETRIED_BELOW_500 = [408, 425, 429]

export function resultOf(answer: Answer, durationMs: number): HttpJobResult {
  const { status, headers, isCut } = answer
  const text = textOf(answer)
  const base = { status, headers: keptHeaders(headers), durationMs: Math.round(durationMs) }
  const parsed = isCut || !isJson(headers) ? undefined : parsedJson(text)
  const whole = { ...base, body: parsed === undefined ? text || null : parsed }
  return !isCut && fits(whole) ? whole : cutToFit(base, text)
}

/** The longest beginning of the body that leaves the whole within what a run keeps. */
function cutToFit(base: Omit<HttpJobResult, 'body'>, text: string): HttpJobResult {
  const cutAt = (length: number) => ({
    ...base,
    body: storablePrefix(text, length),
    truncated: true as const,
  })
  let shortest = 0
  let longest = text.length
  while (shortest < longest) {
    const middle = Math.ceil((shortest + longest) / 2)
    if (fits(cutAt(middle))) shortest = middle
    else longest = middle - 1
  }
  return cutAt(shortest)
}

const fits = (result: HttpJobResult) => Buffer.byteLength(storableJson(result)) <= LARGEST_RESULT_BYTES

/** Why an answer is no success; null if it is one. `now` is the host's, for a date to wait for. */
export function failureOf(call: Call, answer: Answer, now: number): Error | null {
  const { status, headers } = answer
  if (status >= 200 && status < 300) return null
  if (status >= 300 && status < 400 && headers.location !== undefined) {
    return new NonRetryableError(
      `${describeCall(call)} answered ${status}: redirects are not followed. It names ${placeNamed(headers.location, call.url)}; ` +
        'if that is right, make it the "url".',
    )
  }
  const said = storablePrefix(textOf(answer).trim(), QUOTED_BODY)
  const message = `${describeCall(call)} answered ${status}${said === '' ? '' : `: ${said}`}`
  if (status < 500 && !RETRIED_BELOW_500.includes(status)) return new NonRetryableError(message)
  const milliseconds = retryAfterMs(headers, now)
  return milliseconds === null
    ? new Error(message)
    : new RetryAfterError(message, { after: { milliseconds } })
}

export function describeCall({ method, url }: Call): string {
  return `${method} ${toldUrl(url)}`
}

function placeNamed(location: string, base: URL): string {
  return toldUrl(URL.canParse(location, base.href) ? new URL(location, base) : base)
}

function keptHeaders(headers: http.IncomingHttpHeaders): Record<string, string> {
  const kept = KEPT_HEADERS.flatMap((name) => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, storablePrefix(value, LONGEST_HEADER)]] : []
  })
  return Object.fromEntries(kept)
}

/** As UTF-8, without half a character at its end. Packed ones were not asked for and are not kept. */
function textOf({ headers, body }: Answer): string {
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') return ''
  return new TextDecoder().decode(body, { stream: true })
}

function isJson(headers: http.IncomingHttpHeaders): boolean {
  return /^[\w.+-]+\/(?:[\w.-]+\+)?json\b/i.test(headers['content-type'] ?? '')
}

function parsedJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return isShallow(value) ? value : undefined
  } catch {
    return undefined
  }
}
