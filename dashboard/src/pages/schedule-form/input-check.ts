import { type Schema, type SchemaDraft, Validator } from '@cfworker/json-schema'
import type { Mistake } from '../../../../src/errors.js'

/** More are no help. */
const MOST = 8
/** They tell only that something inside of them is wrong, which is told too. */
const WRAPPERS =
  /^(?:properties|patternProperties|additionalProperties|unevaluatedProperties|items|prefixItems|allOf|anyOf|oneOf|\$ref|\$dynamicRef|if|then|else|dependentSchemas)$/

/** What the job's published schema says of an input. Only a hint while it is typed: the server is the judge. */
export function inputMistakes(schema: unknown, input: unknown): Mistake[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { $schema } = schema as { $schema?: unknown }
  const draft: SchemaDraft = /draft-0[67]/.test(String($schema)) ? '7' : '2020-12'
  try {
    const { errors } = new Validator(withoutFormats(schema) as Schema, draft, false).validate(input)
    const told = errors.filter(({ keyword }) => !WRAPPERS.test(keyword))
    return distinct((told.length > 0 ? told : errors).map(mistakeOf)).slice(0, MOST)
  } catch {
    // A schema that this validator cannot read: the job decides.
    return []
  }
}

/** Formats are notes to the server too: what an address is, each library says in another way. */
function withoutFormats(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutFormats)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, inner]) => !(name === 'format' && typeof inner === 'string'))
      .map(([name, inner]) => [name, VALUES.includes(name) ? inner : withoutFormats(inner)]),
  )
}
const VALUES = ['const', 'enum', 'default', 'examples']

function mistakeOf({
  instanceLocation,
  keyword,
  error,
}: {
  instanceLocation: string
  keyword: string
  error: string
}): Mistake {
  const steps = instanceLocation
    .split('/')
    .slice(1)
    .map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'))
  const [, missing] = (keyword === 'required' && /property "(.*)"\.$/s.exec(error)) || []
  const field = ['input', ...steps, ...(missing === undefined ? [] : [missing])].join('.')
  return { field, message: missing === undefined ? wordsOf(keyword, error) : 'is missing' }
}

function wordsOf(keyword: string, error: string): string {
  if (keyword === 'false') return 'unknown field'
  const [, types] = (keyword === 'type' && /Expected (.*)\.$/.exec(error)) || []
  if (types !== undefined) return `must be ${types.replaceAll('"', '')}`
  return error.replace(/^Instance /, '').replace(/\.$/, '')
}

function distinct(mistakes: readonly Mistake[]): Mistake[] {
  return [...new Map(mistakes.map((mistake) => [`${mistake.field}\n${mistake.message}`, mistake])).values()]
}
