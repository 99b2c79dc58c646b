import type { z } from 'zod'
import type { Mistake } from '../errors.js'
import { didYouMean } from '../time/did-you-mean.js'
import { quote } from '../time/report.js'
import { ProblemError } from './problems.js'

type Issue = z.core.$ZodIssue

/** What a schema says of a value; every mistake is told at once, with its field and what was given. */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  { what, known = [] }: { what: string; known?: readonly string[] },
): z.output<Schema> {
  const result = schema.safeParse(value, { reportInput: true })
  if (result.success) return result.data
  const shown = result.error.issues.slice(0, MOST_MISTAKES)
  throw requestInvalid(shown.flatMap((issue) => mistakesOf(issue, what, known)))
}

export function requestInvalid(mistakes: readonly Mistake[]): ProblemError {
  const shown = mistakes.slice(0, MOST_MISTAKES)
  return new ProblemError('request_invalid', {
    detail: shown.map(({ field, message }) => `${field}: ${message}`).join('\n'),
    mistakes: shown,
  })
}

const MOST_MISTAKES = 20

function mistakesOf(issue: Issue, what: string, known: readonly string[]): Mistake[] {
  const at = pathOf(issue.path)
  if (issue.code === 'unrecognized_keys') {
    // A suggestion takes its time, and a body can have a million fields.
    return issue.keys.slice(0, MOST_MISTAKES).map((key) => ({
      field: pathOf([...issue.path, key]),
      message: `unknown field${issue.path.length === 0 ? didYouMean(key, known) : ''}`,
    }))
  }
  return [{ field: at === '' ? what : at, message: messageOf(issue) }]
}

function messageOf(issue: Issue): string {
  if (issue.input === undefined) return 'is missing'
  const given = issue.code === 'invalid_union' ? givenOf(issue) : quote(issue.input)
  return `${given} – ${expectationOf(issue)}`
}

/** Of a union that is told apart by a field, that field. */
function givenOf(issue: Issue): string {
  const last = issue.path.at(-1)
  const input = issue.input as Record<PropertyKey, unknown> | null
  return quote('discriminator' in issue && last !== undefined ? input?.[last as string] : input)
}

function expectationOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${NAMES[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `must be ${oneOf(issue.values)}`
    case 'invalid_union':
      if ('options' in issue) return `must be ${oneOf(issue.options as readonly string[])}`
      return `must be ${alternatives(issue.errors)}`
    case 'too_small':
      return `must be at least ${issue.minimum}${UNITS[issue.origin] ?? ''}`
    case 'too_big':
      return `must be at most ${issue.maximum}${UNITS[issue.origin] ?? ''}`
    case 'invalid_format':
      return FORMATS[issue.format] ?? issue.message
    default:
      return issue.message
  }
}

const NAMES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
}

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'must be an id such as 0199d2c4-3f6b-7c0e-9d53-5f0c6c1b7a11',
}

const UNITS: Readonly<Record<string, string>> = { string: ' characters long', array: ' long' }

function oneOf(values: readonly unknown[]): string {
  return values.length === 1 ? quote(values[0]) : `one of ${values.map(quote).join(', ')}`
}

/** What each branch wants, where that is a type. */
function alternatives(errors: readonly (readonly Issue[])[]): string {
  const expected = errors.flatMap(([first]) => (first?.code === 'invalid_type' ? [first.expected] : []))
  return expected.length === 0
    ? 'of another form'
    : [...new Set(expected)].map((name) => NAMES[name] ?? name).join(' or ')
}

/** `items[3].at`. */
function pathOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    '',
  )
}
