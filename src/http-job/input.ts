import http from 'node:http'
import { z } from 'zod'
import { didYouMean } from '../time/did-you-mean.js'
import { type DurationInput, readElapsed } from '../time/duration.js'
import { quote } from '../time/report.js'
import { DEEPEST_JSON, isShallow } from './depth.js'
import { targetOf } from './place.js'
import { templateMistakes, withoutTemplates } from './template.js'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type Method = (typeof METHODS)[number]

/** Of these a body is asked for, so one is sent also where none was given. */
export const hasBodyByItself = (method: Method) => method === 'POST' || method === 'PUT' || method === 'PATCH'
const takesNoBody = (method: Method) => method === 'GET' || method === 'HEAD'

const LONGEST_URL = 8_000
const LONGEST_HEADER = 8_000
const MOST_HEADERS = 100
export const LONGEST_TIMEOUT_MS = 15 * 60_000

/** Those that say how to read what is sent, and those by which a receiver knows that it is from us. */
const OWN_HEADERS = [
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'idempotency-key',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]
const OWN_PREFIXES = ['webhook-', 'escapement-', 'proxy-']

/** Stand for a template where the rest of a URL is checked: nothing that could end a part of it. */
const PLACEHOLDER = 'template'
const ANOTHER = 'another'

const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i

export function hasDotSegment(url: string): boolean {
  const [path] = url.split(/[?#]/, 1)
  return path!.split('/').some((segment) => DOT_SEGMENT.test(segment))
}

function urlMistakes(text: string): string[] {
  const mistakes = templateMistakes(text)
  const filled = withoutTemplates(text, PLACEHOLDER)
  const refuse = (why: string) => [...mistakes, `${quote(text)} – ${why}`]
  if (/[\s\p{Cc}]/u.test(filled) || text.includes('\\'))
    return refuse('holds a space, a control character or a backslash')
  if (!URL.canParse(filled)) return refuse('is no URL, such as "https://example.com/hook"')
  const { protocol, username, password, host } = new URL(filled)
  if (protocol !== 'https:' && protocol !== 'http:') return refuse('must begin with https://')
  if (username !== '' || password !== '') {
    // Not quoted: it is a password.
    return [
      ...mistakes,
      'holds a user or a password before the host; send them as the header "authorization"',
    ]
  }
  if (targetOf(new URL(filled)).host === '') return refuse('names no host')
  if (host !== new URL(withoutTemplates(text, ANOTHER)).host) {
    return refuse('a template may not choose where to call: write the host out')
  }
  if (filled !== text && hasDotSegment(filled)) {
    return refuse('"." and ".." would lead to another path: beside templates write it out')
  }
  return mistakes
}

function headerMistakes(name: string, value: string): string[] {
  const lower = name.toLowerCase()
  if (OWN_HEADERS.includes(lower) || OWN_PREFIXES.some((prefix) => lower.startsWith(prefix))) {
    return ['is set by the job itself; leave it out']
  }
  const mistakes = templateMistakes(value)
  try {
    http.validateHeaderName(name)
    http.validateHeaderValue(name, withoutTemplates(value, ''))
  } catch (error) {
    mistakes.push((error as Error).message)
  }
  return mistakes
}

function durationMistakes(timeout: unknown): string[] {
  const mistakes: string[] = []
  const ms = readElapsed(timeout, 'timeout', (_, message) => void mistakes.push(message))
  if (ms !== undefined && (ms < 1 || ms > LONGEST_TIMEOUT_MS)) {
    mistakes.push(`${quote(timeout)} – must be longer than nothing, and at most 15 minutes`)
  }
  return mistakes
}

type Path = (string | number)[]

const TOO_DEEP = `is nested deeper than ${DEEPEST_JSON} levels`

function bodyMistakes(body: unknown, path: Path): { path: Path; message: string }[] {
  if (typeof body === 'string') return templateMistakes(body).map((message) => ({ path, message }))
  if (typeof body !== 'object' || body === null) return []
  return Object.entries(body).flatMap(([key, item]) => bodyMistakes(item, [...path, key]))
}

const url = z
  .string()
  .max(LONGEST_URL)
  .superRefine((text, context) => {
    for (const message of urlMistakes(text)) context.addIssue({ code: 'custom', message })
  })
  .describe('Where to call: https, a public address, no user or password. Templates in its path and query.')
  .meta({ examples: ['https://example.com/hooks/{{schedule}}'] })

const headers = z
  .record(z.string(), z.string().max(LONGEST_HEADER))
  .superRefine((given, context) => {
    const entries = Object.entries(given)
    if (entries.length > MOST_HEADERS) {
      context.addIssue({ code: 'custom', message: `must be at most ${MOST_HEADERS}` })
    }
    for (const [name, value] of entries) {
      for (const message of headerMistakes(name, value)) {
        context.addIssue({ code: 'custom', path: [name], message })
      }
    }
  })
  .describe('Sent besides those of the job. Templates in the values.')

const body = z
  .unknown()
  .superRefine((given, context) => {
    const mistakes = isShallow(given) ? bodyMistakes(given, []) : [{ path: [], message: TOO_DEEP }]
    for (const mistake of mistakes) context.addIssue({ code: 'custom', ...mistake })
  })
  .describe(
    'A text is sent as it is, all else as JSON. Templates in all texts. Without it, the event or what is known of the run.',
  )

const timeout = (
  z.union([z.string(), z.record(z.string(), z.number())], {
    error: ({ input }) => `${quote(input)} – must be a duration such as '30s'`,
  }) as z.ZodType<DurationInput, DurationInput>
)
  .superRefine((given, context) => {
    for (const message of durationMistakes(given)) context.addIssue({ code: 'custom', message })
  })
  .describe('For all of it, from looking up the name to the end of the answer: `30s`, at most `15 minutes`.')

const FIELDS = {
  url,
  method: z
    .enum(METHODS, { error: ({ input }) => `${quote(input)} – must be one of ${METHODS.join(', ')}` })
    .optional()
    .describe('By default `POST`.'),
  headers: headers.optional(),
  body: body.optional(),
  timeout: timeout.optional(),
  sign: z
    .union([z.string().min(1), z.literal(false)], { error: 'must be the name of a secret, or false' })
    .optional()
    .describe(
      'The name of the secret to sign with; by default `default`, where there is one. False for none.',
    ),
  event: z
    .record(z.string(), z.unknown())
    .refine((given) => isShallow(given), { error: TOO_DEEP })
    .optional()
    .describe('What templates can name as `event.…`; the body, where that is not given.'),
}

/** What the job `http` takes. */
export const HTTP_INPUT = z
  .strictObject(FIELDS, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys
            .map((key) => `${quote(key)} – unknown field${didYouMean(key, Object.keys(FIELDS))}`)
            .join('; ')
        : undefined,
  })
  .superRefine(({ method = 'POST', body: given }, context) => {
    if (given === undefined || !takesNoBody(method)) return
    context.addIssue({
      code: 'custom',
      path: ['body'],
      message: `${method} has no body; leave it out, or use POST`,
    })
  })

export type HttpJobInput = z.input<typeof HTTP_INPUT>
