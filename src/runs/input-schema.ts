/**
 * The input of a job in JSON Schema, for processes that do not have its code. Workers publish it, and an input that is given with the
 * job's name is checked against it. Only a first check: the job's own schema has the last word, before a run starts.
 */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { ErrorObject, ValidateFunction } from 'ajv'
import { type Mistake, mistakesError } from '../errors.js'
import { isStorableJson } from './storable.js'

export type JsonSchema = Readonly<Record<string, unknown>>

/** What a schema says of what goes in, where its library can say it and JSON Schema can hold it. */
export function jsonSchemaOf(schema: StandardSchemaV1): JsonSchema | null {
  const { jsonSchema } = schema['~standard'] as Partial<StandardJSONSchemaV1.Props>
  const own = schema as OwnWords
  return (
    described(() => jsonSchema?.input({ target: 'draft-2020-12', libraryOptions: LENIENT })) ??
    described(() => own.toJSONSchema?.({ io: 'input', ...LENIENT })) ??
    described(() => (own.in ?? own).toJsonSchema?.())
  )
}

/** Zod's word for it: a date, say, is not JSON, and is then described as anything, so that the rest of it can be told. */
const LENIENT = { unrepresentable: 'any' }

/** Releases from before there was a standard for it say it by methods of their own: zod, and arktype by the side that goes in. */
interface OwnWords {
  toJSONSchema?(options: object): unknown
  toJsonSchema?(): unknown
  in?: Pick<OwnWords, 'toJsonSchema'>
}

function described(describe: () => unknown): JsonSchema | null {
  try {
    const json = JSON.stringify(describe())
    const value = json !== undefined && isStorableJson(json) ? JSON.parse(json) : null
    return typeof value === 'object' && !Array.isArray(value) ? value : null
  } catch {
    // Whatever it cannot describe, it refuses.
    return null
  }
}

const compiled = new WeakMap<JsonSchema, Promise<ValidateFunction | null>>()

/** Throws `input_invalid` with every mistake; `at` is where the input was given. */
export async function checkBySchema(schema: JsonSchema, input: unknown, at: string): Promise<void> {
  let compiling = compiled.get(schema)
  if (!compiling) {
    compiling = compile(schema)
    compiled.set(schema, compiling)
  }
  const validate = await compiling
  if (validate === null || validate(input)) return
  throw mistakesError('input_invalid', (validate.errors ?? []).slice(0, MOST_MISTAKES).map(mistakeAt(at)))
}

/** An error that shows so many mistakes says enough. */
const MOST_MISTAKES = 20

/**
 * Null for a schema that this program cannot read: its job decides. Formats are notes, as draft 2020-12 has them: what an
 * address is, each library says in another way. Loaded when it is needed, which most processes never do.
 */
async function compile(schema: JsonSchema): Promise<ValidateFunction | null> {
  const isOlder = /draft-0[67]/.test(String(schema.$schema))
  const Validator = isOlder ? (await import('ajv')).Ajv : (await import('ajv/dist/2020.js')).Ajv2020
  const options = { allErrors: true, strict: false, validateFormats: false, validateSchema: false }
  try {
    return new Validator({ ...options, logger: false }).compile(schema)
  } catch {
    return null
  }
}

function mistakeAt(at: string): (error: ErrorObject) => Mistake {
  return ({ instancePath, params, message = 'does not fit' }) => {
    const steps = instancePath.split('/').slice(1)
    const { missingProperty, additionalProperty, unevaluatedProperty } = params as Record<string, unknown>
    const own = missingProperty ?? additionalProperty ?? unevaluatedProperty
    const path = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    const field = [at, ...path, ...(own === undefined ? [] : [String(own)])].join('.')
    return { field, message: missingProperty === undefined ? message : 'is missing' }
  }
}
