import { describe, expect, it } from 'vitest'
import { jsonSchemaOf } from '../runs/input-schema.js'
import { checkInput } from '../runs/job.js'
import { httpJob } from './http-job.js'
import { HTTP_INPUT, type HttpJobInput } from './input.js'

const job = httpJob()
const url = 'https://example.com/hook'
const check = (input: unknown) => checkInput(job, input)

describe('the input of the job http', () => {
  it.each<HttpJobInput>([
    { url },
    { url: 'https://example.com/{{schedule}}?at={{ planTime }}&of={{event.id}}#{{scope}}', method: 'GET' },
    { url: 'http://127.0.0.1:3000/', method: 'DELETE', body: { id: '{{run.id}}' } },
    { url, headers: { authorization: 'Bearer x', 'X-Schedule': '{{schedule}}' }, body: 'at {{planTime}}' },
    { url, body: null, timeout: { minutes: 15 }, sign: false },
    { url, timeout: '90s', sign: 'acme', event: { run: { id: 'x' } } },
    { url: 'https://example.com/{{schedule}}...{{scope}}?at=/../#/../' },
  ])('can be %j', async (input) => {
    await expect(check(input)).resolves.toEqual(input)
  })

  it.each([
    ['hook', 'is no URL'],
    ['ftp://example.com/', 'must begin with https://'],
    ['javascript:alert(1)', 'must begin with https://'],
    ['https://', 'is no URL'],
    ['https://./', 'names no host'],
    ['https://{{schedule}}/', 'a template may not choose where to call'],
    ['https://{{schedule}}.example.com/', 'a template may not choose where to call'],
    ['https:{{schedule}}/x', 'a template may not choose where to call'],
    ['https:///{{schedule}}/x', 'a template may not choose where to call'],
    ['https://example.com{{schedule}}/', 'a template may not choose where to call'],
    ['https://example.com:{{attempt}}/', 'is no URL'],
    ['{{schedule}}://example.com/', 'must begin with https://'],
    ['{{event.url}}', 'is no URL'],
    ['https://example.com\\{{schedule}}/', 'a backslash'],
    ['https://exa\nmple.com/', 'a control character'],
    ['https://example.com/a b', 'a space'],
    ['https://example.com/a/../{{schedule}}', '"." and ".." would lead to another path'],
    ['https://example.com/{{schedule}}/%2E%2e/b', '"." and ".." would lead to another path'],
    ['https://example.com/{{planTme}}', 'did you mean "planTime"?'],
  ])('has no url like %j: %s', async (given, message) => {
    await expect(check({ url: given })).rejects.toMatchObject({
      code: 'input_invalid',
      details: { mistakes: [{ field: 'input.url', message: expect.stringContaining(message) }] },
    })
  })

  it.each(['body', 'event'])(
    'has no %s that is nested so deep that it could harm who reads it',
    async (field) => {
      const deep = JSON.parse(`${'{"a":'.repeat(20_000)}0${'}'.repeat(20_000)}`)
      await expect(check({ url, [field]: deep })).rejects.toMatchObject({
        code: 'input_invalid',
        details: { mistakes: [{ field: `input.${field}`, message: 'is nested deeper than 100 levels' }] },
      })
    },
  )

  it.each(['https://me:secret@example.com/', 'https://{{scope}}@example.com/', 'https://secret@example.com'])(
    'has no user or password in its url, and does not repeat them: %s',
    async (given) => {
      const refused = check({ url: given })
      await expect(refused).rejects.toThrow('holds a user or a password')
      await expect(refused).rejects.not.toThrow('secret@')
    },
  )

  it.each([
    'Host',
    'content-length',
    'Transfer-Encoding',
    'connection',
    'accept-encoding',
    'Idempotency-Key',
    'webhook-signature',
    'Escapement-Run-Id',
    'proxy-authorization',
  ])('cannot set the header %s', async (name) => {
    await expect(check({ url, headers: { [name]: 'x' } })).rejects.toThrow(
      `input.headers.${name}: is set by the job`,
    )
  })

  it('names every mistake', async () => {
    const input = {
      url: 'nowhere',
      method: 'post',
      headers: { 'a b': 'x', 'x-two': 'a\r\nb: c', 'x-three': '{{jobb}}' },
      body: { deep: [{ text: '{{attemt}}' }] },
      timeout: '1 hour',
      sign: 7,
      event: [],
    }
    const failure = await check(input).catch((error: Error) => error)
    expect((failure as Error).message.split('\n').sort()).toEqual([
      expect.stringContaining(
        'input.body.deep.0.text: "{{attemt}}" – there is no "attemt" (did you mean "attempt"?)',
      ),
      expect.stringContaining('input.event: '),
      expect.stringContaining('input.headers.a b: '),
      expect.stringContaining('input.headers.x-three: "{{jobb}}" – there is no "jobb" (did you mean "job"?)'),
      expect.stringContaining('input.headers.x-two: Invalid character'),
      'input.method: "post" – must be one of GET, HEAD, POST, PUT, PATCH, DELETE',
      'input.sign: must be the name of a secret, or false',
      'input.timeout: "1 hour" – must be longer than nothing, and at most 15 minutes',
      'input.url: "nowhere" – is no URL, such as "https://example.com/hook"',
    ])
    await expect(check({ url, metod: 'GET' })).rejects.toThrow('unknown field (did you mean "method"?)')
    await expect(check({ url, timeout: 30 })).rejects.toThrow(
      "input.timeout: 30 – must be a duration such as '30s'",
    )
    await expect(check({ url, timeout: '30 sconds' })).rejects.toThrow('is not a unit of time')
    await expect(check({})).rejects.toThrow('input.url: ')
    await expect(check({ url, method: 'GET', body: {} })).rejects.toThrow('input.body: GET has no body')
  })

  it('is published in JSON Schema', () => {
    expect(jsonSchemaOf(HTTP_INPUT)).toMatchObject({
      type: 'object',
      required: ['url'],
      additionalProperties: false,
      properties: {
        url: { type: 'string' },
        method: { enum: expect.arrayContaining(['POST']) },
        timeout: {},
      },
    })
    expect(job.inputSchema).not.toBeNull()
  })
})
