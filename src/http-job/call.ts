import { NonRetryableError } from '../runs/retry-delay.js'
import { didYouMean } from '../time/did-you-mean.js'
import { quote } from '../time/report.js'
import { VERSION } from '../version.js'
import type { Call } from './exchange.js'
import { type HttpJobInput, hasBodyByItself, hasDotSegment } from './input.js'
import { signatureOf } from './signature.js'
import { expandJson, expandText, LONGEST_VALUES, type Room, type TemplateFields } from './template.js'

/** What is sent for an attempt, with the templates filled. `now` is the host's: a receiver compares it with its own. */
export function callOf(
  input: HttpJobInput,
  fields: TemplateFields,
  secrets: ReadonlyMap<string, readonly Buffer[]>,
  now: number,
): Call {
  const { method = 'POST' } = input
  const room = { left: LONGEST_VALUES }
  const content = contentOf(input, fields, room)
  const body = Buffer.from(content?.text ?? '')
  const id = fields.run.id
  const timestamp = String(Math.floor(now / 1000))
  const keys = keysFor(input.sign, secrets)
  return {
    url: expandUrl(input.url, fields, room),
    method,
    body,
    headers: {
      'user-agent': `Escapement/${VERSION}`,
      accept: '*/*',
      ...(content && { 'content-type': content.type }),
      ...expandHeaders(input.headers ?? {}, fields, room),
      // What came packed could not be shown, and could be far more than it seems.
      'accept-encoding': 'identity',
      ...((content || hasBodyByItself(method)) && { 'content-length': String(body.length) }),
      'idempotency-key': id,
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      ...(keys && { 'webhook-signature': signatureOf(keys, { id, timestamp, body }) }),
      'escapement-run-id': id,
      'escapement-attempt': String(fields.attempt),
      ...(fields.schedule !== null && { 'escapement-schedule': headerText(fields.schedule) }),
      ...(fields.planTime !== null && { 'escapement-plan-time': fields.planTime }),
      ...(fields.scope !== null && { 'escapement-scope': headerText(fields.scope) }),
    },
  }
}

function contentOf(
  input: HttpJobInput,
  fields: TemplateFields,
  room: Room,
): { text: string; type: string } | null {
  const { method = 'POST', body } = input
  if (body === undefined && !hasBodyByItself(method)) return null
  const { event, ...known } = fields
  const value = body === undefined ? (event ?? known) : expandJson(body, fields, room)
  return typeof value === 'string'
    ? { text: value, type: 'text/plain; charset=utf-8' }
    : { text: JSON.stringify(value), type: 'application/json' }
}

/** Values cannot end the part of the URL that they are in, and must not be one that means another folder. */
function expandUrl(text: string, fields: TemplateFields, room: Room): URL {
  const expanded = expandText(text, fields, (value) => encodeURIComponent(value.toWellFormed()), room)
  if (expanded !== text && hasDotSegment(expanded)) {
    // Not quoted: it may hold a key.
    throw new NonRetryableError(
      'url: with the values of its templates it has "." or "..", which would lead to another path',
    )
  }
  return new URL(expanded)
}

function expandHeaders(
  headers: Readonly<Record<string, string>>,
  fields: TemplateFields,
  room: Room,
): Record<string, string> {
  const entries = Object.entries(headers)
  return Object.fromEntries(
    entries.map(([name, value]) => [name.toLowerCase(), expandText(value, fields, headerText, room)]),
  )
}

/** What a header cannot hold, percent-encoded: `decodeURIComponent` gives the text back. */
function headerText(text: string): string {
  return text.toWellFormed().replace(/[^\x21-\x24\x26-\x7e]+/g, encodeURIComponent)
}

function keysFor(
  sign: HttpJobInput['sign'],
  secrets: ReadonlyMap<string, readonly Buffer[]>,
): readonly Buffer[] | null {
  if (sign === false) return null
  const keys = secrets.get(sign ?? 'default')
  if (keys || sign === undefined) return keys ?? null
  throw new NonRetryableError(
    `sign: ${quote(sign)} – there is no such secret${didYouMean(sign, [...secrets.keys()])}; add it to "secrets" of the job`,
  )
}
