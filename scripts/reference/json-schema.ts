import { anchorOf, code } from './markdown.js'

export type Schema = Record<string, unknown>

/** Said once at the top of the page. */
const USUAL = 'ISO 8601 in UTC with milliseconds.'

/** A row for each field, and for each field of a field. */
export function fieldRows(schema: Schema, prefix = ''): string[][] {
  const required = (schema.required ?? []) as string[]
  return Object.entries((schema.properties ?? {}) as Record<string, Schema>).flatMap(([name, field]) => {
    const text = field.description === USUAL ? '' : String(field.description ?? '')
    const inner = innerOf(field)
    const path = `${prefix}${name}`
    return [
      [code(required.includes(name) ? path : `${path}?`), typeOf(field), text],
      ...(inner ? fieldRows(inner, `${path}${isList(field) ? '[]' : ''}.`) : []),
    ]
  })
}

/** The object whose fields are listed below: the field itself, one that may be null, or the items of a list. */
function innerOf(field: Schema): Schema | undefined {
  const [one, ...more] = choicesOf(field).filter(({ type }) => type !== 'null')
  if (!one || more.length > 0) return undefined
  return one.properties ? one : one.type === 'array' ? innerOf((one.items ?? {}) as Schema) : undefined
}

function isList(field: Schema): boolean {
  return choicesOf(field).some(({ type }) => type === 'array')
}

function choicesOf(schema: Schema): Schema[] {
  return ((schema.anyOf ?? schema.oneOf) as Schema[] | undefined) ?? [schema]
}

/** In Markdown: a schema of a name leads to it. */
export function typeOf(schema: Schema): string {
  const named = (schema.items as Schema | undefined)?.$ref ?? schema.$ref
  if (typeof named === 'string') {
    const name = named.split('/').at(-1)!
    return `[${code(schema.items ? `${name}[]` : name)}](#${anchorOf(name)})`
  }
  const preset = schema.default === undefined ? '' : `, default ${code(JSON.stringify(schema.default))}`
  return `${code(wordsOf(schema))}${boundsOf(schema)}${preset}`
}

function wordsOf(schema: Schema): string {
  if (typeof schema.$ref === 'string') return schema.$ref.split('/').at(-1)!
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const choices = choicesOf(schema)
  if (choices[0] !== schema) return [...new Set(choices.map(wordsOf))].join(' | ')
  if (Array.isArray(schema.type)) return schema.type.join(' | ')
  if (schema.type === 'array') return listOf(wordsOf((schema.items ?? {}) as Schema))
  return String(schema.format ?? schema.type ?? 'any')
}

function listOf(words: string): string {
  return words.includes(' | ') ? `(${words})[]` : `${words}[]`
}

/** The longest text, the most items, or from where to where. */
function boundsOf({ minimum, maximum, maxLength, maxItems }: Schema): string {
  const number = (value: unknown) => Number(value).toLocaleString('en')
  if (maxItems !== undefined) return `, at most ${number(maxItems)}`
  if (maxLength !== undefined) return `, at most ${number(maxLength)} characters`
  if (minimum !== undefined && maximum !== undefined) return `, ${number(minimum)} to ${number(maximum)}`
  if (minimum !== undefined) return `, from ${number(minimum)}`
  return ''
}
