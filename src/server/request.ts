import type { z } from 'zod'
import { isStorable } from '../runs/storable.js'
import { quote } from '../time/report.js'
import { readJsonBody } from './body.js'
import { checked, requestInvalid } from './checking.js'
import type { RequestHeader, RouteSpec } from './route.js'

export interface ReadRequest {
  params: Record<string, unknown>
  query: Record<string, unknown>
  body: unknown
  expectedVersion: number | undefined
  idempotencyKey: string | undefined
}

/** Everything that an operation takes, checked by its schemas. */
export async function readRequest(
  { spec, params }: { spec: RouteSpec; params: Record<string, string> },
  request: Request,
  bodyLimit: number,
): Promise<ReadRequest> {
  return {
    params: spec.params ? checked(spec.params, params, { what: 'path' }) : {},
    query: readQuery(spec.query, new URL(request.url).searchParams),
    body: await readBody(spec.body, request, bodyLimit),
    ...readHeaders(spec.headers ?? [], request.headers, spec.method),
  }
}

const MOST_PARAMETERS = 50

function readQuery(schema: z.ZodObject | undefined, search: URLSearchParams): Record<string, unknown> {
  const names = [...search.keys()]
  if (names.length > MOST_PARAMETERS) {
    throw requestInvalid([{ field: 'query', message: `has more than ${MOST_PARAMETERS} parameters` }])
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw requestInvalid([{ field: twice, message: 'is given twice' }])
  if (!schema) {
    if (names.length === 0) return {}
    throw requestInvalid(names.map((field) => ({ field, message: 'is no parameter: this takes none' })))
  }
  return checked(schema, Object.fromEntries(search), { what: 'query', known: Object.keys(schema.shape) })
}

async function readBody(
  schema: z.ZodType | undefined,
  request: Request,
  bodyLimit: number,
): Promise<unknown> {
  const given = await readJsonBody(request, bodyLimit)
  if (schema) return checked(schema, given, { what: 'body', known: fieldsOf(schema) })
  // An empty object says as little as nothing.
  if (given === undefined || isEmpty(given)) return undefined
  throw requestInvalid([{ field: 'body', message: 'is not read: this takes none' }])
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function fieldsOf(schema: z.ZodType): string[] {
  const inner = 'unwrap' in schema ? (schema as z.ZodOptional<z.ZodType>).unwrap() : schema
  return 'shape' in inner ? Object.keys((inner as z.ZodObject).shape) : []
}

/** Also the weak form, which a proxy that compresses may make of it. */
const ETAG = /^(?:W\/)?"(\d{1,9})"$/
const LONGEST_KEY = 200

function readHeaders(
  known: readonly RequestHeader[],
  headers: Headers,
  method: RouteSpec['method'],
): Pick<ReadRequest, 'expectedVersion' | 'idempotencyKey'> {
  const value = (name: RequestHeader) => headers.get(name) ?? undefined
  const conditions = ['If-Match', 'If-None-Match', 'Idempotency-Key'] as const
  const ignored = conditions.filter((name) => !known.includes(name) && headers.has(name))
  // Whoever makes a condition must not be answered as if it held. Of reading there is none that could be broken.
  if (ignored.length > 0 && method !== 'get') {
    throw requestInvalid(ignored.map((field) => ({ field, message: 'is not understood here: leave it out' })))
  }
  if (method === 'get') return { expectedVersion: undefined, idempotencyKey: undefined }
  const [ifMatch, ifNoneMatch, key] = conditions.map(value)
  if (ifMatch !== undefined && ifNoneMatch !== undefined) {
    throw requestInvalid([{ field: 'If-None-Match', message: 'contradicts If-Match: send one of them' }])
  }
  if (ifNoneMatch !== undefined && ifNoneMatch !== '*') {
    throw requestInvalid([
      {
        field: 'If-None-Match',
        message: `${quote(ifNoneMatch)} – only * is understood: create, never replace`,
      },
    ])
  }
  const version = ifMatch === undefined ? undefined : ETAG.exec(ifMatch)?.[1]
  if (ifMatch !== undefined && version === undefined) {
    throw requestInvalid([
      { field: 'If-Match', message: `${quote(ifMatch)} – must be the ETag of the schedule, such as "3"` },
    ])
  }
  if (key !== undefined && (key === '' || key.length > LONGEST_KEY || !isStorable(key))) {
    throw requestInvalid([
      {
        field: 'Idempotency-Key',
        message: `${quote(key)} – must be a text of 1 to ${LONGEST_KEY} characters`,
      },
    ])
  }
  return {
    expectedVersion: ifNoneMatch === '*' ? 0 : version === undefined ? undefined : Number(version),
    idempotencyKey: key,
  }
}
