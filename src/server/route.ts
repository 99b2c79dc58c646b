import type { z } from 'zod'
import type { Runs } from '../client/runs.js'
import type { Schedules } from '../client/schedules.js'
import type { AccessRole } from '../client/tokens.js'
import type { EditOptions } from '../client/verb.js'
import type { ErrorCode } from '../errors.js'
import type { Escapement } from '../escapement.js'
import type { Identity } from './identity.js'

/** One operation of the API: what it takes, what it answers and who may ask. It is checked and documented by the same schemas. */
export interface RouteSpec {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** Under `/api/v1`, with `{name}` where a parameter is. */
  path: string
  /** Who may; `anyone` needs no token at all. */
  role: AccessRole | 'anyone'
  /** What a token that is limited to a group may do: with what is in it, or nothing. */
  groups: 'own' | 'refused'
  tag: string
  summary: string
  description?: string
  params?: z.ZodObject
  query?: z.ZodObject
  /** A body that may be left out is `optional()`. */
  body?: z.ZodType
  /** The largest body in bytes, where that is less than any may be. */
  bodyLimit?: number
  /** Request headers that it knows. */
  headers?: readonly RequestHeader[]
  /** Null where there is nothing to say; `stream` for server-sent events, `lines` for lines of JSON. */
  answer: z.ZodType | null | 'stream' | 'lines'
  /** Those beside 200, or 204 without an answer, for an answer of the same form. */
  alsoAnswers?: Readonly<Record<number, string>>
  /** Beyond what any operation may answer. */
  problems: readonly ErrorCode[]
}

export type RequestHeader = 'If-Match' | 'If-None-Match' | 'Idempotency-Key' | 'Last-Event-ID'

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : Record<never, never>

/** What a handler gets: all of it checked, and `schedules` and `runs` limited to what the caller may touch. */
export interface Call<Spec extends RouteSpec = RouteSpec> {
  params: Parsed<Spec['params']>
  query: Parsed<Spec['query']>
  body: Spec['body'] extends z.ZodType ? z.output<Spec['body']> : undefined
  schedules: Schedules
  runs: Runs
  escapement: Escapement
  identity: Identity
  /** Who asks, for the change log. */
  actor: string
  /** The actor, and the version of `If-Match` if it was given, or 0 for `If-None-Match: *`. */
  edit: EditOptions
  idempotencyKey: string | undefined
  /** Whether the caller is still who they were: for answers that last. */
  isStillKnown(): Promise<boolean>
  /** Whether values are hidden from the caller. */
  redacts: boolean
  request: Request
}

/** What may be sent where the schema says a text: dates become one. */
type Sendable<T> = T extends string
  ? T | Date
  : T extends readonly (infer Item)[]
    ? readonly Sendable<Item>[]
    : T extends object
      ? { [Key in keyof T]: Sendable<T[Key]> }
      : T

/** An answer with something beside its body. */
export class Answer<Body> {
  readonly body: Body
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(body: Body, { status, headers = {} }: { status?: number; headers?: Record<string, string> }) {
    this.body = body
    this.status = status
    this.headers = headers
  }
}

type BodyOf<Spec extends RouteSpec> = Spec['answer'] extends z.ZodType
  ? Sendable<z.output<Spec['answer']>>
  : Spec['answer'] extends 'stream' | 'lines'
    ? Response
    : unknown

type Given<Body> = Body | Answer<Body>

export type Handler<Spec extends RouteSpec> = (
  call: Call<Spec>,
) => Given<BodyOf<Spec>> | Promise<Given<BodyOf<Spec>>>

export interface Route {
  spec: RouteSpec
  handler: (call: Call) => unknown
}

/** Keeps the exact types of a specification. */
export function spec<const Spec extends RouteSpec>(given: Spec): Spec {
  return given
}

/** One handler for each operation, by its name: none can be forgotten. */
export function routesOf<Specs extends Readonly<Record<string, RouteSpec>>>(
  specs: Specs,
  handlers: { [Operation in keyof Specs]: Handler<Specs[Operation]> },
): Record<string, Route> {
  return Object.fromEntries(
    Object.entries(specs).map(([operation, one]) => [
      operation,
      { spec: one, handler: handlers[operation] as unknown as Route['handler'] },
    ]),
  )
}
