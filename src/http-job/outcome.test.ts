import { describe, expect, it } from 'vitest'
import { isNonRetryable, isRetryAfter } from '../runs/retry-delay.js'
import { LARGEST_RESULT_BYTES } from '../runs/storable.js'
import type { Answer, Call } from './exchange.js'
import { failureOf, resultOf } from './outcome.js'

const CALL: Call = {
  url: new URL('https://example.com:8443/hook?token=secret'),
  method: 'PUT',
  headers: {},
  body: Buffer.alloc(0),
}

function answer(status: number, text = '', more: Partial<Answer> = {}): Answer {
  return { status, headers: {}, body: Buffer.from(text), isCut: false, ...more }
}

const json = { headers: { 'content-type': 'application/json; charset=utf-8' } }

describe('a result', () => {
  it('has the status, a few headers and the body', () => {
    const headers = { 'content-type': 'text/plain', etag: '"7"', 'set-cookie': ['s=1'], server: 'nginx' }
    expect(resultOf(answer(201, 'made', { headers }), 12.4)).toEqual({
      status: 201,
      headers: { 'content-type': 'text/plain', etag: '"7"' },
      body: 'made',
      durationMs: 12,
    })
    expect(resultOf(answer(204), 1)).toMatchObject({ body: null })
  })

  it('has JSON parsed, where it is said to be JSON and is', () => {
    expect(resultOf(answer(200, '{"id":7}', json), 1)).toMatchObject({ body: { id: 7 } })
    expect(resultOf(answer(200, 'null', json), 1)).toMatchObject({ body: null })
    expect(resultOf(answer(200, '{"id":', json), 1)).toMatchObject({ body: '{"id":' })
    expect(resultOf(answer(200, '{"id":7}'), 1)).toMatchObject({ body: '{"id":7}' })
    const problem = { headers: { 'content-type': 'application/problem+json' } }
    expect(resultOf(answer(200, '[1]', problem), 1)).toMatchObject({ body: [1] })
  })

  it('keeps as text what is nested so deep that it could harm who reads it', () => {
    const deep = '['.repeat(5_000) + ']'.repeat(5_000)
    expect(resultOf(answer(200, deep, json), 1)).toMatchObject({ body: deep })
  })

  it.each([
    ['characters of one byte', 'a'.repeat(LARGEST_RESULT_BYTES)],
    ['characters of several bytes', '🐎'.repeat(LARGEST_RESULT_BYTES / 4)],
    ['characters that JSON escapes', '"\n\0'.repeat(LARGEST_RESULT_BYTES / 3)],
  ])('is cut to what a run keeps, never inside a character: %s', (_, text) => {
    const result = resultOf(answer(200, text), 1)
    const kept = result.body as string
    const bytes = Buffer.byteLength(JSON.stringify(result))
    expect(result.truncated).toBe(true)
    expect(kept.isWellFormed() && text.replaceAll('\0', '\uFFFD').startsWith(kept)).toBe(true)
    expect(bytes).toBeLessThanOrEqual(LARGEST_RESULT_BYTES)
    expect(bytes).toBeGreaterThan(LARGEST_RESULT_BYTES - 20)
  })

  it('says that there was more, also where what was read would fit', () => {
    const body = Buffer.from('{"horse":"🐎"}').subarray(0, 12)
    expect(resultOf(answer(200, '', { ...json, body, isCut: true }), 1)).toMatchObject({
      body: '{"horse":"',
      truncated: true,
    })
  })

  it('has nothing of a body that came packed', () => {
    expect(resultOf(answer(200, 'x\x9c', { headers: { 'content-encoding': 'gzip' } }), 1).body).toBeNull()
  })
})

describe('an answer', () => {
  it.each([200, 201, 202, 204, 299])('of %i is a success', (status) => {
    expect(failureOf(CALL, answer(status), 0)).toBeNull()
  })

  it.each([408, 425, 429, 500, 501, 502, 503, 504, 599])('of %i is tried again', (status) => {
    const failure = failureOf(CALL, answer(status, 'busy'), 0)!
    expect([isNonRetryable(failure), isRetryAfter(failure)]).toEqual([false, false])
    expect(failure.message).toBe(`PUT https://example.com:8443/hook answered ${status}: busy`)
  })

  it.each([300, 304, 400, 401, 403, 404, 410, 422])('of %i is the end', (status) => {
    const failure = failureOf(CALL, answer(status, ' no \n'), 0)!
    expect(isNonRetryable(failure)).toBe(true)
    expect(failure.message).toBe(`PUT https://example.com:8443/hook answered ${status}: no`)
  })

  it.each([301, 302, 303, 307, 308])('of %i is not followed, and named without its query', (status) => {
    const failure = failureOf(
      CALL,
      answer(status, 'moved', { headers: { location: '/new?token=secret' } }),
      0,
    )!
    expect(isNonRetryable(failure)).toBe(true)
    expect(failure.message).toContain(`answered ${status}: redirects are not followed`)
    expect(failure.message).toContain('https://example.com:8443/new;')
    expect(failure.message).not.toContain('secret')
  })

  it('is told without what in the path may be a key', () => {
    const url = new URL('https://hooks.example.com/services/T0001/B0001/XXXXXXXXXXXXXXXXXXXXXXXX')
    const headers = { location: `${url.href}/` }
    expect(failureOf({ ...CALL, url }, answer(404), 0)!.message).toBe(
      'PUT https://hooks.example.com/services/… answered 404',
    )
    expect(failureOf({ ...CALL, url }, answer(301, '', { headers }), 0)!.message).toContain(
      'It names https://hooks.example.com/services/…;',
    )
  })

  it('that asks to wait is waited for', () => {
    const headers = { 'retry-after': '90' }
    const failure = failureOf(CALL, answer(503, '', { headers }), 0)
    expect(isRetryAfter(failure) && failure.after).toEqual({ milliseconds: 90_000 })
    expect(isNonRetryable(failureOf(CALL, answer(400, '', { headers }), 0))).toBe(true)
  })

  it('is quoted in its first part', () => {
    const failure = failureOf(CALL, answer(500, '🐎'.repeat(10_000)), 0)!
    expect(failure.message.length).toBeLessThan(600)
    expect(failure.message.isWellFormed()).toBe(true)
  })
})
