/** The API as an OpenAPI 3.1 document, made of the schemas that check its requests. */
import { z } from 'zod'
import type { ErrorCode } from '../errors.js'
import { VERSION } from '../version.js'
import { statusOf } from './problems.js'
import type { RequestHeader, Route, RouteSpec } from './route.js'

type JsonObject = Record<string, unknown>

export interface OpenApiDocument {
  openapi: '3.1.1'
  info: { title: string; version: string; description: string }
  servers: { url: string }[]
  tags: { name: string }[]
  security: Record<string, string[]>[]
  paths: Record<string, Record<string, OpenApiOperation>>
  components: { schemas: Record<string, JsonObject>; securitySchemes: Record<string, JsonObject> }
}

export interface OpenApiOperation {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  'x-role': string
  'x-groups': string
  parameters?: JsonObject[]
  requestBody?: { required: boolean; content: Record<string, { schema: JsonObject }> }
  responses: Record<string, JsonObject>
  security?: Record<string, string[]>[]
}

export const API_PREFIX = '/api/v1'

export function createOpenApi(routes: Readonly<Record<string, Route>>, prefix: string): OpenApiDocument {
  const schemas: Record<string, JsonObject> = { Problem: PROBLEM }
  const paths: OpenApiDocument['paths'] = {}
  for (const [operation, { spec }] of Object.entries(routes)) {
    const path = `${API_PREFIX}${spec.path}`
    paths[path] = { ...paths[path], [spec.method]: operationOf(operation, spec, schemas) }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Escapement',
      version: VERSION,
      description:
        'A durable scheduler and run queue on PostgreSQL. Every error is a problem of RFC 9457 with a stable `code`.',
    },
    servers: [{ url: prefix === '' ? '/' : prefix }],
    tags: [...new Set(Object.values(routes).map(({ spec }) => spec.tag))].map((name) => ({ name })),
    security: [{ token: [] }, { session: [] }],
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'Made by `escapement tokens create`.' },
        session: { type: 'apiKey', in: 'cookie', name: 'escapement_session' },
      },
    },
  }
}

const PROBLEM: JsonObject = {
  type: 'object',
  description: 'RFC 9457. Branch on `code`, show `detail`.',
  required: ['type', 'title', 'status', 'code', 'detail'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string' },
    detail: { type: 'string' },
    mistakes: {
      type: 'array',
      description: 'Everything that is wrong with the request, by field.',
      items: {
        type: 'object',
        required: ['field', 'message'],
        properties: { field: { type: 'string' }, message: { type: 'string' } },
      },
    },
    details: { type: 'object', additionalProperties: true },
  },
}

function operationOf(
  operation: string,
  spec: RouteSpec,
  schemas: Record<string, JsonObject>,
): OpenApiOperation {
  const parameters = [
    ...parametersOf(spec.params, 'path', schemas),
    ...parametersOf(spec.query, 'query', schemas),
    ...(spec.headers ?? []).map(headerOf),
  ]
  return {
    operationId: operation,
    tags: [spec.tag],
    summary: spec.summary,
    ...(spec.description !== undefined && { description: spec.description }),
    'x-role': spec.role,
    'x-groups': spec.groups,
    ...(parameters.length > 0 && { parameters }),
    ...(spec.body && {
      requestBody: {
        required: !spec.body.safeParse(undefined).success,
        content: { 'application/json': { schema: schemaOf(spec.body, 'input', schemas) } },
      },
    }),
    responses: { ...answersOf(spec, schemas), ...problemsOf(spec) },
    ...(spec.role === 'anyone' && { security: [] }),
  }
}

function parametersOf(
  object: z.ZodObject | undefined,
  place: 'path' | 'query',
  schemas: Record<string, JsonObject>,
): JsonObject[] {
  if (!object) return []
  const { required = [] } = z.toJSONSchema(object, { io: 'input' }) as { required?: string[] }
  return Object.entries(object.shape).map(([name, field]) => {
    const { description, ...schema } = schemaOf(field as z.ZodType, 'output', schemas)
    return {
      name,
      in: place,
      required: required.includes(name),
      ...(description !== undefined && { description }),
      ...(schema.type === 'array' && { style: 'form', explode: false }),
      schema,
    }
  })
}

const HEADERS: Readonly<Record<RequestHeader, string>> = {
  'If-Match': 'The ETag that was read: refused with 412 if the schedule has another version by now.',
  'If-None-Match': '`*` creates and never replaces.',
  'Idempotency-Key': 'The same again gives the same run.',
  'Last-Event-ID': 'Goes on after this event.',
}

function headerOf(name: RequestHeader): JsonObject {
  return { name, in: 'header', required: false, description: HEADERS[name], schema: { type: 'string' } }
}

const ETAG = { description: 'The version of the schedule, for `If-Match`.', schema: { type: 'string' } }

function answersOf(spec: RouteSpec, schemas: Record<string, JsonObject>): Record<string, JsonObject> {
  if (spec.answer === null) return { 204: { description: 'Done.' } }
  if (spec.answer === 'stream') {
    const content = { 'text/event-stream': { schema: { type: 'string' } } }
    return { 200: { description: 'Server-sent events.', content } }
  }
  if (spec.answer === 'lines') {
    const content = { 'application/x-ndjson': { schema: { type: 'string' } } }
    return { 200: { description: 'Lines of JSON.', content } }
  }
  const content = { 'application/json': { schema: schemaOf(spec.answer, 'output', schemas) } }
  const all = { 200: 'Done.', ...spec.alsoAnswers }
  const headers = z.globalRegistry.get(spec.answer)?.id === 'Schedule' && { headers: { ETag: ETAG } }
  return Object.fromEntries(
    Object.entries(all).map(([status, description]) => [status, { description, ...headers, content }]),
  )
}

/** What any operation may answer. */
const USUAL: readonly ErrorCode[] = [
  'request_invalid',
  'value_out_of_range',
  'internal_error',
  'database_unreachable',
  'database_busy',
  'moved',
  'closed',
]
const OF_THE_KNOWN: readonly ErrorCode[] = ['unauthorized', 'forbidden', 'csrf_missing']
const OF_BODIES: readonly ErrorCode[] = ['malformed_request', 'body_too_large', 'media_type_unsupported']

/** The codes that an operation may answer, by status. */
function problemsOf(spec: RouteSpec): Record<string, JsonObject> {
  const byStatus = new Map<number, ErrorCode[]>()
  const codes = [...USUAL, ...OF_THE_KNOWN, ...OF_BODIES, ...spec.problems]
  for (const code of new Set(codes)) {
    byStatus.set(statusOf(code), [...(byStatus.get(statusOf(code)) ?? []), code])
  }
  const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } }
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, found]) => [
        status,
        { description: found.map((code) => `\`${code}\``).join(', '), content },
      ]),
  )
}

/** With what has a name of its own among the components. */
function schemaOf(
  schema: z.ZodType,
  io: 'input' | 'output',
  schemas: Record<string, JsonObject>,
): JsonObject {
  const {
    $schema: _,
    $defs = {},
    ...made
  } = z.toJSONSchema(schema, { io, override: simplify }) as JsonObject & {
    $defs?: Record<string, JsonObject>
  }
  for (const [name, definition] of Object.entries($defs)) {
    const { id: __, ...rest } = definition
    schemas[name] = withComponents(rest) as JsonObject
  }
  const { id, ...rest } = withComponents(made) as JsonObject
  if (typeof id !== 'string') return rest
  schemas[id] = rest
  return { $ref: `#/components/schemas/${id}` }
}

/** Leaves out what a reader can do without: patterns of formats, and that a number is one. An answer may have more fields one day. */
function simplify({ jsonSchema, zodSchema }: { jsonSchema: JsonObject; zodSchema: unknown }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.format === 'date-time' || jsonSchema.format === 'uuid') delete jsonSchema.pattern
  const { def } = (zodSchema as z.ZodObject)._zod
  if (def.type === 'object' && def.catchall === undefined) delete jsonSchema.additionalProperties
}

function withComponents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withComponents)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      key === '$ref' && typeof item === 'string'
        ? item.replace('#/$defs/', '#/components/schemas/')
        : withComponents(item),
    ]),
  )
}
