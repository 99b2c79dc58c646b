import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { EscapementError } from '../errors.js'
import { checkInput, defineJob } from './job.js'

const handler = () => {}

describe('defineJob', () => {
  it('reports every mistake at once, with field and value', () => {
    const wrong = { retry: { attempts: 0, backoff: ['soon'] }, timeout: '0s', lease: '1s', timout: 1 }
    expect(() => defineJob('report', wrong as never)).toThrowError(
      new RegExp(
        [
          'job "report": timout: unknown field \\(did you mean "timeout"\\?\\)',
          'job "report": retry.backoff\\[0\\]: "soon" .*',
          'job "report": handler: undefined – must be a function',
          'job "report": retry.attempts: 0 – must be a whole number from 1 to 2147483647, which is for ever',
          'job "report": timeout: "0s" – must be longer than nothing, and at most 24 days',
          'job "report": lease: "1s" – must be at least 5 seconds, and at most 24 days',
        ].join('\\n'),
      ),
    )
  })

  it('has one attempt when the list of delays is empty, after a crash too', () => {
    expect(defineJob('j', { retry: { attempts: 5, backoff: [] }, handler }).retry.attempts).toBe(1)
  })

  it.each([
    [{ onStale: 'fail' }, /onStale: "fail" – means at most once, so it takes retry: \{ attempts: 1 \}/],
    [{ onStale: 'maybe' }, /onStale: "maybe" – must be "retry" or "fail"/],
    [{ concurrency: 0 }, /concurrency: 0 – must be a whole number from 1 to 2147483647; leave it out/],
    [{ concurrency: 1e30 }, /concurrency: 1e\+30 – must be a whole number from 1 to 2147483647/],
    [
      { retry: { attempts: Number.MAX_SAFE_INTEGER } },
      /attempts: 9007199254740991 – .* 2147483647, which is for ever/,
    ],
    [{ retry: null }, /retry: null – must be an object with attempts, backoff/],
    [{ input: {} }, /input: \{\} – must be a Standard Schema/],
    [{ inputSchema: 'string' }, /inputSchema: "string" – must be a JSON Schema, or false/],
    [{ concurrencyKey: 'a b' }, /concurrencyKey: "a b" – must name a field of the input/],
    [{ gate: true }, /gate: true – must be a function/],
    [{ transactional: 1 }, /transactional: 1 – must be true or false/],
    [{ retry: { backoff: 'fast' } }, /retry.backoff: "fast" – must be a list of durations, or \{ first/],
    [
      { retry: { backoff: { first: '1s', factor: 0, jitter: 2, mx: 1 } } },
      /mx: unknown field[\s\S]*factor: 0[\s\S]*jitter: 2/,
    ],
  ])('refuses %j', (wrong, message) => {
    expect(() => defineJob('j', { handler, ...wrong } as never)).toThrowError(message)
  })

  it.each([undefined, null, 5])('refuses the definition %j', (definition) => {
    expect(() => defineJob('j', definition as never)).toThrowError(
      `job "j": definition: ${definition} – must be an object with a handler`,
    )
  })

  it('refuses a timeout that no timer can hold', () => {
    expect(() => defineJob('j', { timeout: '30 days', handler })).toThrowError(/at most 24 days/)
  })

  it.each(['', ' ', undefined])('refuses the name %j', (name) => {
    expect(() => defineJob(name as string, { handler })).toThrowError('name: a job needs a name')
  })

  it.each(['x'.repeat(201), 'a\0b'])('refuses the name %j, which no index can hold', (name) => {
    expect(() => defineJob(name, { handler })).toThrowError(/^name: .* at most 200 characters/)
  })

  it('has the defaults that the documentation names', () => {
    expect(defineJob('j', { handler })).toMatchObject({
      retry: { attempts: 3, backoff: [10_000, 60_000, 600_000] },
      timeoutMs: 3_600_000,
      leaseMs: 30_000,
    })
  })
})

describe('checkInput', () => {
  const job = defineJob('j', { input: z.object({ customer: z.string(), copies: z.number() }), handler })

  it('names each field that is wrong', async () => {
    const error: EscapementError = await checkInput(job, { customer: 1 }).then(
      () => expect.fail('expected a refusal'),
      (reason) => reason,
    )
    expect(error.code).toBe('input_invalid')
    expect(error.message.split('\n').map((line) => line.split(':')[0])).toEqual([
      'input.customer',
      'input.copies',
    ])
  })

  it('gives the input as the schema makes it', async () => {
    const trimmed = defineJob('t', { input: z.string().trim(), handler })
    expect(await checkInput(trimmed, ' a ')).toBe('a')
  })
})
