import type { ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { every, httpJob } from '../../src/index.js'
import { openHarness } from '../support/harness.js'
import { openReceiver } from '../support/receiver.js'

const AT = '2026-03-01T00:00:00Z'
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

describe('the job http', () => {
  it('calls a receiver for each occurrence, with its plan time, and again under the same key when it is asked to wait', async () => {
    const h = await openHarness({ at: AT })
    const answers: ((response: ServerResponse) => void)[] = [
      (response) => response.writeHead(503, { 'retry-after': '90' }).end('restarting'),
    ]
    const calledAt: string[] = []
    const { calls, url } = await openReceiver((_, response) => {
      calledAt.push(h.now().toISOString().slice(11, 19))
      const answer = answers.shift()
      if (answer) answer(response)
      else response.end('done')
    })
    h.job(httpJob({ allow: [url], secrets: { default: SECRET } }))
    await h.schedules.put('report:acme', {
      job: 'http',
      input: { url: `${url}/{{schedule}}`, body: { from: '{{previousPlanTime}}', to: '{{planTime}}' } },
      timing: every('1 hour'),
    })
    await h.advance('61 minutes')
    expect(calledAt).toEqual(['00:00:00', '00:01:30', '01:00:00'])

    const planTimes = await h.planTimes('report:acme')
    expect(calls.map(({ headers }) => headers['escapement-plan-time'])).toEqual([
      planTimes[0],
      planTimes[0],
      planTimes[1],
    ])
    expect(calls.map(({ url }) => url)).toEqual(Array(3).fill('/report%3Aacme'))
    const runs = (await h.runs.list({ schedule: 'report:acme' })).reverse()
    for (const name of ['idempotency-key', 'webhook-id', 'escapement-run-id']) {
      expect(calls.map(({ headers }) => headers[name])).toEqual([runs[0]!.id, runs[0]!.id, runs[1]!.id])
    }
    expect(calls.map(({ headers }) => headers['escapement-attempt'])).toEqual(['1', '2', '1'])
    const verified = calls.map(({ body, headers }) =>
      new Webhook(SECRET).verify(body, headers as Record<string, string>),
    )
    expect(verified.at(-1)).toEqual({ from: planTimes[0], to: planTimes[1] })
    expect(runs).toMatchObject([
      { state: 'succeeded', attempt: 2, result: { status: 200, body: 'done' } },
      { state: 'succeeded', attempt: 1, result: { status: 200, body: 'done' } },
    ])
    expect(await h.runs.attempts(runs[0]!.id)).toMatchObject([
      { error: { message: `POST ${url}/report%3Aacme answered 503: restarting` } },
    ])
  })

  it('refuses what could not be sent when it is put, fails at once where it must not call, and keeps what a result holds', async () => {
    const h = await openHarness({ at: AT })
    const { calls, url } = await openReceiver((_, response) => response.end('🐎'.repeat(100_000)))
    h.job(httpJob({ allow: [url] }))
    const input = { url: 'https://example.com/{{planTme}}', headers: { host: 'example.org' } }
    await expect(h.schedules.put('s', { job: 'http', input, timing: every('1 day') })).rejects.toThrow(
      /input\.url: .*did you mean "planTime"[\s\S]*input\.headers\.host: is set by the job itself/,
    )
    await h.schedules.put('private', {
      job: 'http',
      input: { url: 'https://169.254.169.254/latest/meta-data/' },
      timing: every('1 day'),
    })
    await h.schedules.put('large', { job: 'http', input: { url }, timing: every('1 day') })
    await h.advance('1 second')
    expect(await h.runs.list({ schedule: 'private' })).toMatchObject([
      {
        state: 'failed',
        attempt: 1,
        error: { message: expect.stringContaining('169.254.169.254 is of cloud metadata') },
      },
    ])
    const [large] = await h.runs.list({ schedule: 'large' })
    expect(large).toMatchObject({ state: 'succeeded', result: { status: 200, truncated: true } })
    expect((large!.result as { body: string }).body).toMatch(/^🐎{4000,}$/u)
    expect(calls).toHaveLength(1)
  })
})
