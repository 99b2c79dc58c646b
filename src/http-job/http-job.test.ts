import dns from 'node:dns/promises'
import { once } from 'node:events'
import net from 'node:net'
import { setImmediate } from 'node:timers/promises'
import tls from 'node:tls'
import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { CERTIFICATE, KEY } from '../../test/support/certificate.js'
import { openReceiver } from '../../test/support/receiver.js'
import type { HandlerContext } from '../runs/job.js'
import { isNonRetryable } from '../runs/retry-delay.js'
import { VERSION } from '../version.js'
import { httpJob } from './http-job.js'
import type { HttpJobInput } from './input.js'
import type { HttpJobOptions } from './options.js'
import type { HttpJobResult } from './outcome.js'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const RUN = '0198c0de-0000-7000-8000-000000000001'
const LOCAL = { allow: ['http://127.0.0.1'] }

/** One attempt of the job, as a worker makes it, without a database. */
async function call(
  input: HttpJobInput,
  options: HttpJobOptions = LOCAL,
  more: Partial<HandlerContext> = {},
): Promise<HttpJobResult> {
  const context = {
    job: 'http',
    run: { id: RUN, trigger: 'scheduled' },
    schedule: 'report:acme',
    scope: 'global',
    attempt: 1,
    planTime: new Date('2026-03-01T09:00:00Z'),
    previousPlanTime: null,
    signal: new AbortController().signal,
    ...more,
    input,
  }
  return (await httpJob(options).handler(context as never)) as HttpJobResult
}

/** How a call failed, and whether that is the end of its run. */
async function failed(calling: Promise<unknown>): Promise<{ message: string; isFinal: boolean }> {
  const error = await calling.then(
    () => new Error('it succeeded'),
    (reason: Error) => reason,
  )
  return { message: error.message, isFinal: isNonRetryable(error) }
}

/** Names are what the test says they are, one answer after the other. */
function stubLookup(...answers: string[][]) {
  const lookup = vi.spyOn(dns, 'lookup')
  for (const addresses of answers) {
    const found = addresses.map((address) => ({ address, family: net.isIP(address) }))
    lookup.mockResolvedValueOnce(found as never)
  }
  return lookup
}

afterEach(() => {
  vi.restoreAllMocks()
})

describe('what the job http sends', () => {
  it('says which run it is for, and what is known of it', async () => {
    const { calls, url } = await openReceiver()
    await call({ url: `${url}/hook?a=b` })
    expect(calls).toMatchObject([
      {
        method: 'POST',
        url: '/hook?a=b',
        headers: {
          host: url.slice('http://'.length),
          'user-agent': `Escapement/${VERSION}`,
          'content-type': 'application/json',
          'accept-encoding': 'identity',
          connection: 'close',
          'idempotency-key': RUN,
          'webhook-id': RUN,
          'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
          'escapement-run-id': RUN,
          'escapement-attempt': '1',
          'escapement-schedule': 'report:acme',
          'escapement-plan-time': '2026-03-01T09:00:00.000Z',
          'escapement-scope': 'global',
        },
      },
    ])
    expect(calls[0]!.headers).not.toHaveProperty('webhook-signature')
    expect(JSON.parse(calls[0]!.body)).toEqual({
      run: { id: RUN },
      job: 'http',
      schedule: 'report:acme',
      scope: 'global',
      planTime: '2026-03-01T09:00:00.000Z',
      previousPlanTime: null,
      trigger: 'scheduled',
      attempt: 1,
    })
  })

  it('says nothing of a schedule for a direct run, and sends no body with GET', async () => {
    const { calls, url } = await openReceiver()
    await call({ url, method: 'GET' }, LOCAL, { schedule: null, scope: null, planTime: null })
    const { headers, body } = calls[0]!
    expect(Object.keys(headers).filter((name) => /schedule|scope|plan|content/.test(name))).toEqual([])
    expect(body).toBe('')
  })

  it('is signed so that the public package verifies it', async () => {
    const { calls, url } = await openReceiver()
    const body = { naïve: 'žluťoučký {{attempt}} 🐎' }
    const options = { ...LOCAL, secrets: { default: SECRET, acme: `whsec_${'A'.repeat(32)}` } }
    await call({ url, body }, options)
    await call({ url, body, sign: 'acme' }, options)
    await call({ url, body, sign: false }, options)
    const [byDefault, byName, unsigned] = calls
    const verify = (secret: string, { body, headers }: (typeof calls)[number]) =>
      new Webhook(secret).verify(body, headers as Record<string, string>)
    expect(verify(SECRET, byDefault!)).toEqual({ naïve: 'žluťoučký 1 🐎' })
    expect(verify(options.secrets.acme, byName!)).toEqual({ naïve: 'žluťoučký 1 🐎' })
    expect(() => verify(SECRET, byName!)).toThrow()
    expect(unsigned!.headers).not.toHaveProperty('webhook-signature')
    expect(await failed(call({ url, sign: 'amce' }, options))).toEqual({
      message:
        'sign: "amce" – there is no such secret (did you mean "acme"?); add it to "secrets" of the job',
      isFinal: true,
    })
  })

  it('has values in the place of templates, where they can do no harm', async () => {
    const { calls, url } = await openReceiver()
    const scope = 'a/../b?c=d#e%\r\nx-evil: 1 žluť'
    const input = {
      url: `${url}/of/{{scope}}?at={{planTime}}&q={{scope}}`,
      headers: { 'X-Scope': 'is {{scope}}', 'User-Agent': 'mine' },
      body: { attempt: '{{attempt}}', text: '{{scope}}!' },
    }
    await call(input, LOCAL, { scope })
    const encoded = encodeURIComponent(scope)
    const { headers, ...received } = calls[0]!
    expect(received.url).toBe(`/of/${encoded}?at=2026-03-01T09%3A00%3A00.000Z&q=${encoded}`)
    expect(headers).not.toHaveProperty('x-evil')
    expect(headers['user-agent']).toBe('mine')
    expect(decodeURIComponent(headers['x-scope'] as string)).toBe(`is ${scope}`)
    expect(decodeURIComponent(headers['escapement-scope'] as string)).toBe(scope)
    expect(JSON.parse(received.body)).toEqual({ attempt: 1, text: `${scope}!` })
    for (const dots of ['.', '..']) {
      const refused = call({ url: `${url}/of/{{scope}}/private` }, LOCAL, { scope: dots })
      expect(await failed(refused)).toMatchObject({
        isFinal: true,
        message: expect.stringContaining('another path'),
      })
    }
    expect(calls).toHaveLength(1)
  })

  it('is the event, a text, or whatever else the body says', async () => {
    const { calls, url } = await openReceiver()
    const event = { name: 'run.failed', said: '{{run.id}}' }
    await call({ url, event })
    await call({ url, event, body: 'It was {{event.name}}: {{event.said}}' })
    await call({ url, event, body: '{{event}}' })
    await call({ url, method: 'PUT', body: '', headers: { 'content-type': 'text/csv' } })
    await call({ url, method: 'DELETE' })
    expect(
      calls.map(({ headers, body }) => [headers['content-type'], headers['content-length'], body]),
    ).toEqual([
      ['application/json', expect.any(String), JSON.stringify(event)],
      ['text/plain; charset=utf-8', '29', 'It was run.failed: {{run.id}}'],
      ['application/json', expect.any(String), JSON.stringify(event)],
      ['text/csv', '0', ''],
      [undefined, undefined, ''],
    ])
  })
})

describe('values of templates', () => {
  const event = { text: 'x'.repeat(10_000) }
  const many = '{{event.text}}'.repeat(100)

  it.each<[string, Partial<HttpJobInput>]>([
    ['a text', { body: `${many}{{attempt}}` }],
    ['a list', { body: Array(100).fill('{{event}}') }],
    ['all parts together', { body: many, headers: { 'x-attempt': '{{attempt}}' } }],
  ])('that come to far more than was stored are not sent, in %s', async (_, input) => {
    const { calls, url } = await openReceiver()
    expect(await failed(call({ url, event, ...input }))).toMatchObject({
      message: expect.stringContaining('come to more than 1,000,000 characters'),
      isFinal: true,
    })
    expect(calls).toEqual([])
    await call({ url, event, body: many })
    expect(calls[0]!.body).toHaveLength(1_000_000)
  })
})

describe('where the job http calls', () => {
  it.each([
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://127.0.0.1./',
    'https://0/',
    'https://10.1.2.3/',
    'https://172.16.0.1/',
    'https://192.168.1.1/',
    'https://100.64.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'https://192.0.2.1/',
    'https://198.18.0.1/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::127.0.0.1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:a9fe:a9fe]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[64:ff9b:1::1]/',
    'https://[2002:7f00:1::]/',
    'https://[2001:0:1::1]/',
    'https://[fd00:ec2::254]/',
    'https://[fe80::1]/',
    'https://[ff02::1]/',
    'http://93.184.215.14/',
    'http://127.0.0.1/',
  ])('is never %s', async (url) => {
    const connect = vi.spyOn(net, 'connect')
    expect(await failed(call({ url }, {}))).toMatchObject({
      message: expect.stringMatching(
        /^POST https?:.* was not sent: .* allow it: add ".*" to "allow" of the job/,
      ),
      isFinal: true,
    })
    expect(connect).not.toHaveBeenCalled()
  })

  it('is never localhost, with or without a dot, by the real resolver', async () => {
    for (const url of ['https://localhost/', 'https://LOCALHOST./']) {
      expect(await failed(call({ url }, {}))).toMatchObject({
        message: expect.stringContaining('is loopback'),
        isFinal: true,
      })
    }
  })

  it('is no name of which one address is refused', async () => {
    const connect = vi.spyOn(net, 'connect')
    stubLookup(['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c', '10.0.0.5'])
    expect(await failed(call({ url: 'https://mixed.example/' }, {}))).toMatchObject({
      message: expect.stringContaining('mixed.example is 10.0.0.5, which is private'),
      isFinal: true,
    })
    expect(connect).not.toHaveBeenCalled()
  })

  it('is what was judged, though the name has another answer a moment later', async () => {
    const { calls, port } = await openReceiver()
    const url = `http://rebinding.example:${port}/`
    const options = { allow: [`http://127.0.0.1:${port}`] }
    const lookup = stubLookup(['127.0.0.1'], ['127.0.0.2'])
    await call({ url }, options)
    expect(calls).toMatchObject([{ headers: { host: `rebinding.example:${port}` } }])
    expect(lookup).toHaveBeenCalledTimes(1)
    expect(await failed(call({ url }, options))).toMatchObject({ isFinal: true })
    expect(lookup).toHaveBeenCalledTimes(2)
    expect(calls).toHaveLength(1)
  })

  it('is judged by what is connected, too, before a byte is sent', async () => {
    let bytes = 0
    const server = net.createServer((socket) =>
      socket.on('data', (chunk) => (bytes += chunk.length)).resume(),
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as net.AddressInfo
    const gone = once(server, 'connection').then(([socket]) => once(socket, 'close'))
    const connect = net.connect
    const toElsewhere = () => connect({ host: '127.0.0.1', port })
    for (const url of ['https://93.184.215.14/', `https://93.184.215.14:${port}/`]) {
      vi.spyOn(net, 'connect').mockImplementation(toElsewhere as never)
      expect(await failed(call({ url }, {}))).toMatchObject({
        message: expect.stringContaining('93.184.215.14 is 127.0.0.1, which is loopback'),
        isFinal: true,
      })
    }
    await gone
    server.close()
    expect(bytes).toBe(0)
  })

  it('is nowhere that an answer leads to', async () => {
    const { calls, url } = await openReceiver((_, response) =>
      response.writeHead(307, { location: 'http://169.254.169.254/latest?token=x' }).end(),
    )
    expect(await failed(call({ url: `${url}/old` }))).toEqual({
      message:
        `POST ${url}/old answered 307: redirects are not followed. It names http://169.254.169.254/latest; ` +
        'if that is right, make it the "url".',
      isFinal: true,
    })
    expect(calls).toHaveLength(1)
  })

  it('is not what "only" leaves out', async () => {
    const { calls, url, port } = await openReceiver()
    await call({ url }, { ...LOCAL, only: [`127.0.0.1:${port}`] })
    expect(await failed(call({ url }, { ...LOCAL, only: ['*.example.com'] }))).toMatchObject({
      message: expect.stringContaining('is not among the places that "only" of the job names'),
      isFinal: true,
    })
    expect(calls).toHaveLength(1)
  })

  it('is who the certificate says it is', async () => {
    const { calls, port } = await openReceiver(undefined, { key: KEY, cert: CERTIFICATE })
    const options = { allow: ['127.0.0.1'], ca: CERTIFICATE }
    stubLookup(['127.0.0.1'], ['127.0.0.1'], ['127.0.0.1'])
    await call({ url: `https://hooks.internal:${port}/` }, options)
    expect(calls).toMatchObject([{ headers: { host: `hooks.internal:${port}` } }])
    expect(await failed(call({ url: `https://other.internal:${port}/` }, options))).toMatchObject({
      message: expect.stringContaining("does not match certificate's altnames"),
      isFinal: false,
    })
    expect(
      await failed(call({ url: `https://hooks.internal:${port}/` }, { allow: ['127.0.0.1'] })),
    ).toMatchObject({
      message: expect.stringContaining('self-signed certificate'),
      isFinal: false,
    })
    vi.restoreAllMocks()
    await call({ url: `https://127.0.0.1:${port}/` }, options)
    expect(calls).toHaveLength(2)
  })

  it('is trusted by what Node was given besides, where Node can tell', async () => {
    const { calls, port } = await openReceiver(undefined, { key: KEY, cert: CERTIFICATE })
    const newer = tls as { getCACertificates?: unknown }
    const { getCACertificates } = newer
    onTestFinished(() => {
      newer.getCACertificates = getCACertificates
    })
    newer.getCACertificates = (type: string) => (type === 'default' ? [CERTIFICATE] : [])
    const options = { allow: ['127.0.0.1'], ca: tls.rootCertificates[0]! }
    await call({ url: `https://127.0.0.1:${port}/` }, options)
    expect(calls).toHaveLength(1)
  })
})

describe('what becomes of an answer', () => {
  it('is a result', async () => {
    const { url } = await openReceiver((_, response) =>
      response
        .writeHead(202, { 'content-type': 'application/json', 'x-request-id': '7' })
        .end('{"queued":true}'),
    )
    expect(await call({ url })).toEqual({
      status: 202,
      headers: { 'content-type': 'application/json', 'x-request-id': '7' },
      body: { queued: true },
      durationMs: expect.any(Number),
    })
  })

  it('that never ends is its beginning', async () => {
    let left: Promise<unknown> | undefined
    const { url } = await openReceiver((_, response) => {
      left = once(response, 'close')
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
      }
      response.on('drain', more)
      more()
    })
    const result = await call({ url }, { ...LOCAL, maxResponse: 100 })
    expect(result).toMatchObject({ status: 200, body: 'x'.repeat(100), truncated: true })
    await left
  })

  it.each([
    ['nothing', () => {}],
    ['a body that stops', (response: import('node:http').ServerResponse) => response.write('so far ')],
  ])('that is %s is not waited for beyond the timeout', async (_, begin) => {
    let left: Promise<unknown> | undefined
    const { url } = await openReceiver((_, response) => {
      left = once(response, 'close')
      begin(response)
    })
    expect(await failed(call({ url, timeout: '50ms' }))).toEqual({
      message: `POST ${url}/ failed: no answer within 0.05 s`,
      isFinal: false,
    })
    await left
  })

  it('is not waited for once the attempt is over', async () => {
    const attempt = new AbortController()
    let left: Promise<unknown> | undefined
    const { url, calls } = await openReceiver((_, response) => {
      left = once(response, 'close')
      attempt.abort(new Error('the lease is lost'))
    })
    expect(await failed(call({ url }, LOCAL, { signal: attempt.signal }))).toMatchObject({
      message: 'the lease is lost',
    })
    await left
    expect(await failed(call({ url }, LOCAL, { signal: attempt.signal }))).toMatchObject({
      message: 'the lease is lost',
    })
    expect(calls).toHaveLength(1)
  })

  it('is not asked for where the attempt is over, and a name that is not found then ends nothing else', async () => {
    const unheard = vi.fn()
    process.on('unhandledRejection', unheard)
    onTestFinished(() => void process.off('unhandledRejection', unheard))
    // Not by a spy: that hears how its promises end.
    const { lookup } = dns
    dns.lookup = (() => Promise.reject(new Error('no such name'))) as never
    onTestFinished(() => {
      dns.lookup = lookup
    })
    const signal = AbortSignal.abort(new Error('the lease is lost'))
    expect(await failed(call({ url: 'https://nowhere.example' }, {}, { signal }))).toMatchObject({
      message: 'the lease is lost',
    })
    await setImmediate()
    expect(unheard).not.toHaveBeenCalled()
  })

  it('that turns to another protocol is no success, and is not waited for', async () => {
    const { url } = await openReceiver((_, response) => {
      response.socket!.write(
        'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
      )
    })
    expect(await failed(call({ url, timeout: '10s' }))).toEqual({
      message: `POST ${url}/ answered 101`,
      isFinal: true,
    })
  })

  it('that is none is tried again', async () => {
    const { url, server } = await openReceiver((_, response) => {
      response.writeHead(200, { 'content-length': '1000' })
      response.write('half', () => response.destroy())
    })
    expect(await failed(call({ url }))).toEqual({ message: `POST ${url}/ failed: aborted`, isFinal: false })
    server.close()
    await once(server, 'close')
    expect(await failed(call({ url: `${url}/hook?token=secret` }))).toEqual({
      message: expect.stringMatching(`^POST ${url}/hook failed: connect ECONNREFUSED`),
      isFinal: false,
    })
  })
})

describe('options of the job http', () => {
  it('are all checked, and every mistake is named', () => {
    const options = {
      alow: [],
      allow: ['*'],
      only: ['http://a.example'],
      secrets: { acme: 'hunter2' },
      ca: 'no certificate',
      timeout: '1 hour',
      maxResponse: -1,
      retry: { attempts: 0 },
    }
    expect(() => httpJob(options as never)).toThrowError(
      expect.objectContaining({
        code: 'job_invalid',
        message: expect.not.stringContaining('hunter2'),
        details: {
          mistakes: [
            'alow',
            'timeout',
            'maxResponse',
            'allow[0]',
            'only',
            'secrets.acme',
            'ca',
            'retry.attempts',
          ].map((field) => ({ field: `job "http": ${field}`, message: expect.any(String) })),
        },
      }),
    )
    expect(() => httpJob({ only: [] })).toThrowError('permits nothing')
    expect(() => httpJob({ secrets: [] as never })).toThrowError('must be an object of secrets by name')
  })

  it('leave attempts for a receiver that is down for minutes', () => {
    expect(httpJob().retry).toMatchObject({ attempts: 5, backoff: { firstMs: 10_000, factor: 4 } })
    expect(httpJob({ retry: { attempts: 2 } }).retry).toMatchObject({
      attempts: 2,
      backoff: { firstMs: 10_000 },
    })
  })
})
