import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createHttpClient, EscapementError, type HttpClientOptions } from '../../src/http-client/index.js'
import { BASE, openWorld, PLAN_TIME } from './world.js'

const admin = { authenticate: () => ({ name: 'ann', role: 'admin' }) as const }
const ID = '0199d2c4-3f6b-7c0e-9d53-5f0c6c1b7a11'
const HALF_PAIR = '\ud800'

/** A client whose requests are noted, and answered as given. */
function clientOf(answer: (request: Request) => Response | Promise<Response> = () => Response.json({})) {
  const sent: Request[] = []
  const client = createHttpClient({
    url: BASE,
    fetch: async (request) => {
      sent.push(request)
      return answer(request)
    },
  })
  return { client, sent }
}

/** What it rejects with, which must be our own error. */
async function errorOf(promise: Promise<unknown>): Promise<EscapementError> {
  const error = await promise.then(
    () => expect.fail('did not reject'),
    (reason) => reason,
  )
  expect(error).toBeInstanceOf(EscapementError)
  return error
}

describe('a parameter of a path', () => {
  it('is refused where it would make it the path of another operation', async () => {
    const world = await openWorld(admin)
    const client = createHttpClient({ url: BASE, fetch: world.handler })
    const failed = await world.failedRun()
    expect(await errorOf(client.runs.retry('.'))).toMatchObject({
      code: 'option_invalid',
      message: 'id: "." – must be an id, which is a UUID',
    })
    expect((await client.runs.get(failed)).run.state).toBe('failed')
  })

  it.each(['', '.', '..', HALF_PAIR, undefined as unknown as string])('is not %j', async (name) => {
    const { client, sent } = clientOf()
    const calls = {
      name: [client.schedules.runs(name), client.schedules.delete(name)],
      group: [client.groups.pause(name)],
      id: [client.runs.cancel(name), client.tokens.revoke(name)],
    }
    for (const [field, promises] of Object.entries(calls)) {
      for (const error of await Promise.all(promises.map(errorOf))) {
        expect(error).toMatchObject({ code: 'option_invalid', details: { mistakes: [{ field }] } })
      }
    }
    expect(sent).toEqual([])
  })

  it('may be any other text for a name, and a UUID for an id', async () => {
    const { client, sent } = clientOf()
    for (const name of ['%2e', '%2E%2e', '...', 'a/../b', '. ', '\t', '\\', "ü'?#", '😀']) {
      await client.schedules.runs(name)
      const { pathname } = new URL(sent.at(-1)!.url)
      const [, segment, ...others] = /^\/api\/v1\/schedules\/([^/]+)\/runs$/.exec(pathname)!
      expect([decodeURIComponent(segment!), others]).toEqual([name, []])
    }
    await client.runs.get(ID.toUpperCase())
    expect(await errorOf(client.runs.get('retry'))).toMatchObject({ code: 'option_invalid' })
  })
})

describe('a precondition', () => {
  it('is refused by an operation that would not look at it', async () => {
    const { client, sent } = clientOf()
    const version = { expectedVersion: 99 }
    const key = { idempotencyKey: 'k' }
    const calls = [
      // @ts-expect-error there is no version to compare
      client.schedules.skip('a', PLAN_TIME, version),
      // @ts-expect-error there is no version to compare
      client.schedules.trigger('a', undefined, version),
      // @ts-expect-error each run has a key of its own
      client.runs.enqueueMany({ job: 'work', items: [] }, key),
      // @ts-expect-error it makes no run
      client.schedules.put('a', {} as never, key),
    ]
    const errors = await Promise.all(calls.map(errorOf))
    expect(errors.map(({ code, message }) => [code, message.split(' – ')[0]])).toEqual([
      ['option_invalid', 'expectedVersion: "skipOccurrence" has no such option'],
      ['option_invalid', 'expectedVersion: "triggerSchedule" has no such option'],
      ['option_invalid', 'idempotencyKey: "enqueueRuns" has no such option'],
      ['option_invalid', 'idempotencyKey: "putSchedule" has no such option'],
    ])
    // @ts-expect-error misspelt
    expect((await errorOf(client.schedules.patch('a', {}, { expectdVersion: 1 }))).message).toContain(
      'did you mean "expectedVersion"?',
    )
    expect(sent).toEqual([])
  })

  it('is a version that was read, or 0 where something is created', async () => {
    const { client, sent } = clientOf()
    const created = { expectedVersion: 0 }
    for (const promise of [
      client.schedules.patch('a', {}, created),
      client.schedules.delete('a', {}, created),
      client.schedules.pause('a', {}, created),
      client.schedules.put('a', {} as never, { expectedVersion: -1 }),
      client.schedules.put('a', {} as never, { expectedVersion: Number.NaN }),
    ]) {
      expect((await errorOf(promise)).details).toMatchObject({ mistakes: [{ field: 'expectedVersion' }] })
    }
    expect(sent).toEqual([])
    await client.schedules.put('a', {} as never, created)
    await client.schedules.delete('a', {}, { expectedVersion: 7 })
    await client.schedules.patch('a', {}, { expectedVersion: undefined } as never)
    expect(sent.map(({ headers }) => [headers.get('if-none-match'), headers.get('if-match')])).toEqual([
      ['*', null],
      [null, '"7"'],
      [null, null],
    ])
  })
})

describe('what cannot be sent', () => {
  it('rejects as what it is', async () => {
    const { client, sent } = clientOf()
    const circular: Record<string, unknown> = {}
    circular.self = circular
    for (const idempotencyKey of ['é–ü', 'é', 'a\nb', ' a', '']) {
      expect((await errorOf(client.runs.enqueue({ job: 'work' }, { idempotencyKey }))).message).toMatch(
        /^idempotencyKey: .* must be printable ASCII/,
      )
    }
    expect((await errorOf(client.runs.enqueue({ job: 'work', input: circular }))).code).toBe('option_invalid')
    expect((await errorOf(client.stats({ timeoutMs: 2 ** 31 }))).message).toMatch(/^timeoutMs: 2147483648/)
    expect(sent).toEqual([])
  })

  it.each([
    ['http://me:hunter2@127.0.0.1:1', /a user and a password/],
    ['http://me:hunter2@127.0.0.1:99999', /must be the address of a server/],
    ['me:hunter2@127.0.0.1', /must begin with http/],
    ['ftp://127.0.0.1', /"ftp:\/\/127.0.0.1" – must begin with http/],
    ['http://127.0.0.1/?token=a', /without "\?"/],
    [undefined as unknown as string, /must be the address/],
  ])('is not sent to %s, whose password is not shown', (url, message) => {
    const make = () => createHttpClient({ url })
    expect(make).toThrow(expect.objectContaining({ code: 'option_invalid' }))
    expect(make).toThrow(message)
    expect(make).not.toThrow(/hunter2/)
  })

  it.each<[string, Partial<HttpClientOptions>]>([
    ['token: is not one of ours', { token: 'secret–with a dash' }],
    ['token: is not one of ours', { token: '' }],
    ['timeoutMs: -1', { timeoutMs: -1 }],
  ])('is found when the client is made: %s', (message, options) => {
    expect(() => createHttpClient({ url: BASE, ...options })).toThrow(message)
  })
})

describe('an answer', () => {
  it('that is not ours rejects as that, whatever its status', async () => {
    const page = () => new Response('<html>', { headers: { 'content-type': 'text/html' } })
    expect(await errorOf(clientOf(page).client.stats())).toMatchObject({
      code: 'server_unreachable',
      message: `The server at ${BASE} answered 200, and not in our words: is it Escapement?`,
      details: { status: 200 },
    })
  })

  it('that stops half way is not waited for', async () => {
    const halves = (request: Request) =>
      new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode('{'))
            request.signal.addEventListener('abort', () => controller.error(request.signal.reason))
          },
        }),
      )
    const { client } = clientOf(halves)
    expect(await errorOf(client.stats({ timeoutMs: 20 }))).toMatchObject({
      code: 'server_unreachable',
      message: `Cannot reach the server at ${BASE}: it did not answer in time.`,
    })
    const gone = new AbortController()
    const asked = client.stats({ signal: gone.signal })
    gone.abort('enough')
    await expect(asked).rejects.toBe('enough')
  })

  it('that points elsewhere is not followed', async () => {
    const seen: unknown[] = []
    const server = http.createServer(({ method, url }, response) => {
      seen.push([method, url])
      response.writeHead(302, { location: '/login?next=runs' }).end()
    })
    onTestFinished(() => {
      server.close()
      server.closeAllConnections()
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    expect(await errorOf(createHttpClient({ url }).runs.enqueue({ job: 'work' }))).toMatchObject({
      code: 'server_unreachable',
      message: `The server at ${url} redirects to ${url}/login, which is not followed: give the address of Escapement itself.`,
    })
    expect(seen).toEqual([['POST', '/api/v1/runs']])
  })
})

/** Timers that only the test moves. */
function holdTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
}

describe('events', () => {
  it('are told from where a connection broke, also before the first of them', async () => {
    const world = await openWorld(admin)
    let connections = 0
    let lost = ''
    const client = createHttpClient({
      url: BASE,
      fetch: async (request) => {
        const response = await world.handler(request)
        if (++connections > 1) return response
        // A network that fails after the greeting; what happens then is told to nobody.
        const reader = response.body!.getReader()
        const { value } = await reader.read()
        await reader.cancel()
        lost = await world.schedule()
        return new Response(value, { headers: response.headers })
      },
    })
    const states: string[] = []
    for await (const event of client.events({ onState: (state) => states.push(state) })) {
      expect(event).toMatchObject({ name: 'schedule.changed', data: { schedule: lost } })
      break
    }
    expect(connections).toBe(2)
    expect(states).toEqual(['live', 'reconnecting', 'live'])
  })

  it('may be those of one group', async () => {
    const world = await openWorld(admin)
    const client = createHttpClient({
      url: BASE,
      fetch: async (request) => {
        const response = await world.handler(request)
        const reader = response.body!.getReader()
        const greeting = await reader.read()
        await world.schedule()
        await world.schedule({ group: 'acme' })
        return new Response(
          new ReadableStream({
            start: (controller) => controller.enqueue(greeting.value!),
            async pull(controller) {
              controller.enqueue((await reader.read()).value)
            },
            cancel: () => reader.cancel(),
          }),
          { headers: response.headers },
        )
      },
    })
    for await (const event of client.events({ group: 'acme' })) {
      expect(event).toMatchObject({ name: 'schedule.changed', data: { schedule: 'schedule:u2' } })
      break
    }
  })

  it.each([
    [
      'a page',
      () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
      'server_unreachable',
    ],
    [
      'nonsense',
      () => new Response('event: a\ndata: {\n\n', { headers: { 'content-type': 'text/event-stream' } }),
      'server_unreachable',
    ],
    ['a redirect', () => Response.redirect('https://example.com/login', 302), 'server_unreachable'],
    ['a refusal', () => Response.json({ code: 'unauthorized' }, { status: 401 }), 'unauthorized'],
  ])('end with an error at %s', async (_, answer, code) => {
    const { client, sent } = clientOf(answer)
    expect(await errorOf(client.events().next())).toMatchObject({ code })
    expect(sent).toHaveLength(1)
  })

  it('end with an error for what cannot be asked, and leave no timer behind', async () => {
    holdTimers()
    const { client, sent } = clientOf()
    expect((await errorOf(client.events({ lastEventId: 'é–ü' }).next())).message).toMatch(/^lastEventId: /)
    expect([sent.length, vi.getTimerCount()]).toEqual([0, 0])
  })

  it('go on after what passes, and end at once with their signal', async () => {
    holdTimers()
    const gone = new AbortController()
    const answers = [
      () => new Response('<html>', { status: 502 }),
      () => {
        throw new TypeError('fetch failed')
      },
      () => {
        // A connection that fails at the moment of leaving must not be waited for.
        gone.abort()
        throw new TypeError('fetch failed')
      },
    ]
    const { client, sent } = clientOf(() => answers[sent.length - 1]!())
    const ended = client.events({ signal: gone.signal }).next()
    await vi.advanceTimersToNextTimerAsync()
    await vi.advanceTimersToNextTimerAsync()
    // No timer moves any more.
    expect(await ended).toEqual({ done: true, value: undefined })
    expect([sent.length, vi.getTimerCount()]).toEqual([3, 0])
  })
})
