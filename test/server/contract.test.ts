/**
 * Every operation of the OpenAPI document with requests that are right and with requests that are not: never a 500,
 * always a problem with a code that the document tells of, and every answer as the document says it is.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { OPERATIONS, type Operation } from '../../src/http-client/operations.js'
import type { OpenApiDocument } from '../../src/server/openapi.js'
import { EXAMPLES, type Example, lineOf } from './examples.js'
import { BASE, openWorld, type World } from './world.js'

const NAMES = Object.keys(OPERATIONS) as Operation[]
const PER_OPERATION = 110
const BODY_LIMIT = 200_000

const odd = fc.constantFrom(
  null,
  true,
  0,
  -1,
  0.5,
  1e308,
  2 ** 53,
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u202eright to left',
  '😀'.repeat(50),
  'x'.repeat(10_000),
  "'; drop table schedules; --",
  '../../etc/passwd',
  '$(id)',
  '<script>alert(1)</script>',
  '9999-12-31T23:59:59Z',
  '0000-00-00',
  '-271821-04-20T00:00:00Z',
  'P99999999999999Y',
  'infinity',
  'NaN',
  '* * * * *',
  'Europe/Atlantis',
  '00000000-0000-0000-0000-000000000000',
  [],
  [[]],
  [null],
  {},
  { kind: 'cron' },
  { in: 'yesterday' },
  { __proto__: null, constructor: { prototype: 1 } },
)

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

/** One thing that is wrong with a request. */
type Fault = (example: Example, request: { line: string; init: RequestInit }) => void

const json = (init: RequestInit, body: string | Uint8Array<ArrayBuffer>, type = 'application/json') => {
  init.body = body
  init.headers = { ...(init.headers as object), 'content-type': type }
}

const faults: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Fault>(() => {}) },
  {
    weight: 8,
    arbitrary: fc.tuple(fc.nat(), odd).map(
      ([place, value]): Fault =>
        ({ body }, { init }) =>
          json(init, JSON.stringify(withOdd(body, place, value))),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.nat().map(
      (place): Fault =>
        ({ body }, { init }) =>
          json(init, JSON.stringify(without(body, place))),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.string({ unit: 'binary' }), fc.jsonValue()).map(
      ([key, value]): Fault =>
        ({ body }, { init }) =>
          json(init, JSON.stringify({ ...(body as object), [key]: value })),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.jsonValue().map(
      (value): Fault =>
        (_, { init }) =>
          json(init, JSON.stringify(value)),
    ),
  },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom<[string | Uint8Array<ArrayBuffer>, string?]>(
        ['{'],
        ['{"a":1,}'],
        ['nonsense'],
        ['{"a":1}{"b":2}'],
        [nested(100_000)],
        [nested(65)],
        [`{"a":${nested(64)}}`],
        ['x'.repeat(BODY_LIMIT + 1)],
        [JSON.stringify('x'.repeat(BODY_LIMIT - 100))],
        [new Uint8Array([0x22, 0xff, 0xfe, 0x22])],
        [new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0x7d])],
        [Buffer.from('{"a":1}', 'utf16le')],
        ['{}', 'application/json; charset=utf-16'],
        ['{}', 'text/plain'],
        ['a=1', 'application/x-www-form-urlencoded'],
        ['{}', 'application/jsonp'],
        ['{}', 'application/json; charset=UTF-8'],
        ['{}', 'application/merge-patch+json'],
        ['', 'application/json'],
        ['null'],
        ['1e400'],
        ['{"__proto__":{"job":"work"}}'],
      )
      .map(
        ([body, type]): Fault =>
          (_, { init }) =>
            json(init, body, type),
      ),
  },
  {
    weight: 5,
    arbitrary: fc
      .tuple(
        fc.nat(),
        fc.constantFrom(
          '',
          '0',
          '-1',
          '1e9',
          '99999999999',
          'x'.repeat(3_000),
          '%00',
          '%ff',
          '%',
          'true',
          'ü',
          '😀',
          ',',
          'a,b',
        ),
      )
      .map(
        ([place, value]): Fault =>
          ({ query = {} }, request) => {
            const names = [...Object.keys(query), 'limit', 'pageToken', 'unknown']
            const name = names[place % names.length]
            request.line += `${request.line.includes('?') ? '&' : '?'}${name}=${value}`
          },
      ),
  },
  {
    weight: 5,
    arbitrary: fc
      .constantFrom(
        '%00',
        '%2e%2e',
        '%2F',
        '%E0%A4%A',
        'a'.repeat(300),
        '%F0%9F%98%80',
        '%27%3B--',
        'no-such',
        '%20',
        '*',
        '%ED%A0%80',
        ':name',
      )
      .map(
        (value): Fault =>
          ({ params = {} }, request) => {
            for (const given of Object.values(params)) {
              request.line = request.line.replace(encodeURIComponent(given), value)
            }
          },
      ),
  },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom(
        { 'if-match': '"99"' },
        { 'if-match': '*' },
        { 'if-match': 'W/"1"' },
        { 'if-match': '"1", "2"' },
        { 'if-match': '"-1"' },
        { 'if-match': '' },
        { 'if-none-match': '*' },
        { 'if-none-match': '"1"' },
        { 'if-match': '"1"', 'if-none-match': '*' },
        { 'idempotency-key': 'x'.repeat(1_000) },
        { 'idempotency-key': '' },
        { 'content-encoding': 'gzip' },
        { 'last-event-id': 'rubbish' },
        { accept: 'text/html' },
        { 'accept-language': '\t' },
        { traceparent: '00-xyz' },
      )
      .map(
        (headers): Fault =>
          (_, { init }) => {
            init.headers = { ...(init.headers as object), ...headers } as Record<string, string>
          },
      ),
  },
)

/** All places in a value: paths of keys. */
function placesIn(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  const inner = Array.isArray(value)
    ? value.map((item, index) => [index, item] as const)
    : Object.entries(value)
  return [path, ...inner.flatMap(([key, item]) => placesIn(item, [...path, key]))]
}

function withOdd(body: unknown, place: number, value: unknown): unknown {
  const places = placesIn(body ?? {})
  return changed(body ?? {}, places[place % places.length]!, () => value)
}

function without(body: unknown, place: number): unknown {
  const places = placesIn(body ?? {}).slice(1)
  if (places.length === 0) return {}
  return changed(body, places[place % places.length]!, () => undefined)
}

function changed(value: unknown, [key, ...rest]: readonly (string | number)[], to: () => unknown): unknown {
  if (key === undefined) return to()
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<
    string | number,
    unknown
  >
  copy[key] = changed(copy[key], rest, to)
  return copy
}

/** Undefined for a request that fetch itself cannot make. */
function requestOf(line: string, init: RequestInit): Request | undefined {
  const [method, path] = [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]
  try {
    return new Request(`${BASE}${path}`, { ...init, method })
  } catch {
    return undefined
  }
}

interface Contract {
  /** What is wrong with an answer of this status. */
  mistakesOf(status: number, body: unknown): string | null
}

function contractOf(document: OpenApiDocument): (name: Operation) => Contract {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ ...document, $id: 'api' } as object)
  const rooted = (schema: unknown): object =>
    JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"api#/components'))
  return (name) => {
    const [method, path] = OPERATIONS[name]
    const operation = document.paths[`/api/v1${path}`]![method]!
    const compiled = new Map<number, ValidateFunction>()
    return {
      mistakesOf(status, body) {
        const response = operation.responses[status] as
          | { content?: Record<string, { schema: unknown }>; description: string }
          | undefined
        if (!response) return `the document has no ${status}`
        const [content] = Object.values(response.content ?? {})
        if (!content) return body === undefined ? null : 'a body where the document has none'
        const validate = compiled.get(status) ?? ajv.compile(rooted(content.schema))
        compiled.set(status, validate)
        if (!validate(body)) return ajv.errorsText(validate.errors)
        const { code } = body as { code?: string }
        if (status >= 400 && !response.description.includes(`\`${code}\``))
          return `the document has no ${code}`
        return null
      },
    }
  }
}

async function documentOf(world: World): Promise<OpenApiDocument> {
  return (await (
    await world.ask('GET /openapi.json', { token: await world.token('viewer') })
  ).json()) as never
}

it('is kept by every operation, whatever is sent', { timeout: 240_000 }, async () => {
  const seed = Number(process.env.ESCAPEMENT_SEED ?? Math.floor(Math.random() * 2 ** 31))
  const logged: unknown[] = []
  const world = await openWorld({
    bodyLimit: BODY_LIMIT,
    logger: {
      debug() {},
      info() {},
      warn: (facts) => logged.push(facts),
      error: (facts) => logged.push(facts),
    },
  })
  const token = await world.token('admin')
  const contract = contractOf(await documentOf(world))
  const wrong: string[] = []
  const seen = new Map<Operation, { ok: number; refused: number }>()
  let sent = 0
  for (const [index, name] of NAMES.entries()) {
    const counts = { ok: 0, refused: 0 }
    seen.set(name, counts)
    const kept = contract(name)
    let example: Example | undefined
    for (const fault of fc.sample(faults, { seed: seed + index, numRuns: PER_OPERATION })) {
      // What succeeded has changed what it was about.
      example ??= await EXAMPLES[name](world)
      const draft = {
        line: lineOf(OPERATIONS[name], example),
        init: {
          headers: { authorization: `Bearer ${token}`, ...example.headers } as Record<string, string>,
        } as RequestInit,
      }
      if (example.body !== undefined) json(draft.init, JSON.stringify(example.body))
      fault(example, draft)
      const request = draft.line.startsWith('GET')
        ? requestOf(draft.line, { headers: draft.init.headers! })
        : requestOf(draft.line, draft.init)
      if (!request) continue
      const response = await world.handler(request)
      sent += 1
      if (response.ok) counts.ok += 1
      else counts.refused += 1
      if (response.ok && request.method !== 'GET') example = undefined
      const type = response.headers.get('content-type') ?? ''
      if (type.startsWith('text/event-stream')) {
        await response.body?.cancel()
        continue
      }
      const text = await response.text()
      if (type.startsWith('application/x-ndjson')) {
        if (!text.trimEnd().split('\n').at(-1)!.startsWith('{"end":')) wrong.push(`${draft.line}: has no end`)
        continue
      }
      const body = text === '' ? undefined : JSON.parse(text)
      const mistake =
        response.status >= 500
          ? 'it broke'
          : /^(not_found|method_not_allowed)$/.test(body?.code)
            ? null
            : !response.ok && type !== 'application/problem+json'
              ? `a refusal as ${type}`
              : kept.mistakesOf(response.status, body)
      if (mistake !== null) {
        wrong.push(
          `${draft.line} ${String(draft.init.body).slice(0, 300)}\n  → ${response.status} ${text.slice(0, 300)}\n  ${mistake}`,
        )
      }
    }
  }
  console.log(`contract: ${sent} requests, ESCAPEMENT_SEED=${seed}`)
  expect(wrong.slice(0, 10)).toEqual([])
  expect(logged).toEqual([])
  expect(sent).toBeGreaterThan(5_000)
  expect([...seen].filter(([, { ok, refused }]) => ok === 0 || refused === 0)).toEqual([])
})
