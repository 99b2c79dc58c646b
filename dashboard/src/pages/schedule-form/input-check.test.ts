import { expect, it } from 'vitest'
import { z } from 'zod'
import { jsonSchemaOf } from '../../../../src/runs/input-schema.js'
import { inputMistakes } from './input-check.ts'

const order = jsonSchemaOf(
  z.strictObject({
    customer: z.string(),
    'a/b': z.array(z.object({ count: z.int() })).optional(),
    kind: z.enum(['x', 'y']).optional(),
    since: z.coerce.date().optional(),
    mail: z.string().meta({ format: 'email' }).optional(),
  }),
)

const lines = (input: unknown, schema: unknown = order) =>
  inputMistakes(schema, input).map(({ field, message }) => `${field}: ${message}`)

it('says where an input does not fit the schema of its job', () => {
  expect(
    lines({ 'a/b': [{ count: 'x' }, {}], kind: 'z', extra: 1, since: 'monday', mail: 'nobody' }).sort(),
  ).toEqual([
    'input.a/b.0.count: must be integer',
    'input.a/b.1.count: is missing',
    'input.customer: is missing',
    'input.extra: unknown field',
    'input.kind: does not match any of ["x","y"]',
  ])
  expect(lines(null)).toEqual(['input: must be object'])
  expect(lines({ customer: 'acme' })).toEqual([])
})

it.each([
  ['of an older draft', { $schema: 'http://json-schema.org/draft-07/schema#', type: 'string' }, 5, 1],
  ['none', null, 5, 0],
  ['one that it cannot read', { $ref: 'https://example.com/elsewhere' }, 5, 0],
  ['one with a pattern that is none', { type: 'string', pattern: '(' }, 'text', 0],
])('takes a schema as the server does: %s', (_, schema, input, count) => {
  expect(inputMistakes(schema, input)).toHaveLength(count)
})
