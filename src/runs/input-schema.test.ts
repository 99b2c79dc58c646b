import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checkBySchema, jsonSchemaOf } from './input-schema.js'

const order = z.object({
  customer: z.string(),
  lines: z.array(z.object({ 'a/b': z.number() })).default([]),
  note: z.email().optional(),
})

const refusal = (schema: object, input: unknown) =>
  checkBySchema(schema as never, input, 'input').then(
    () => null,
    ({ code, message }) => ({ code, lines: message.split('\n') }),
  )

describe('the JSON Schema of an input', () => {
  it('is what goes in, as the schema’s library says it', () => {
    expect(jsonSchemaOf(order)).toMatchObject({ type: 'object', required: ['customer'] })
  })

  it('takes anything for a part that is not JSON, and holds the rest to what it is', async () => {
    const schema = jsonSchemaOf(z.object({ customer: z.string(), since: z.coerce.date() }))!
    expect(schema).toMatchObject({ properties: { customer: { type: 'string' }, since: {} } })
    expect(await refusal(schema, { customer: 5, since: '2026-01-01' })).toMatchObject({
      lines: ['input.customer: must be string'],
    })
  })

  const standard = { version: 1, vendor: 'other', validate: (value: unknown) => ({ value }) } as const
  const text = { type: 'string' }
  it.each<[string, object]>([
    ['zod', { toJSONSchema: ({ io }: { io: string }) => (io === 'input' ? text : {}) }],
    ['arktype', { toJsonSchema: () => text }],
    ['arktype, of what goes in', { in: { toJsonSchema: () => text }, toJsonSchema: () => ({}) }],
  ])('is what releases of %s say that are older than the standard', (_, own) => {
    expect(jsonSchemaOf({ '~standard': standard, ...own })).toEqual(text)
  })

  it.each<[string, object]>([
    ['has no word for it', {}],
    ['says something else', { toJsonSchema: () => 'a text' }],
    [
      'throws',
      {
        toJsonSchema() {
          throw new Error('cyclic')
        },
      },
    ],
  ])('is none where the library %s', (_, own) => {
    expect(jsonSchemaOf({ '~standard': standard, ...own })).toBeNull()
  })

  it('refuses what does not fit with the path of each mistake', async () => {
    const schema = { ...jsonSchemaOf(order)!, additionalProperties: false }
    expect(await refusal(schema, { lines: [{ 'a/b': 'x' }], extra: 1 })).toEqual({
      code: 'input_invalid',
      lines: [
        'input.customer: is missing',
        'input.extra: must NOT have additional properties',
        'input.lines.0.a/b: must be number',
      ],
    })
    expect(await refusal(schema, null)).toMatchObject({ lines: ['input: must be object'] })
    expect(await refusal(schema, { customer: 'acme' })).toBeNull()
  })

  it.each([
    ['of an older draft', { $schema: 'http://json-schema.org/draft-07/schema#', type: 'string' }, false],
    ['with a format, which each library reads in its own way', { type: 'string', format: 'email' }, true],
    ['that this program cannot read', { $ref: 'https://example.com/elsewhere' }, true],
  ])('%s', async (_, schema, takesText) => {
    expect(await refusal(schema, takesText ? 'text' : 5)).toEqual(takesText ? null : expect.anything())
  })
})
