import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGunzip, gzipSync } from 'node:zlib'
import { createAdaptorServer } from '@hono/node-server'
import express, {
  type Request as ExpressRequest,
  type Response as ExpressResponse,
  type NextFunction,
} from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { mount } from 'hono/mount'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHttpClient } from '../../src/http-client/index.js'
import { createEscapement, cron, type Escapement } from '../../src/index.js'
import {
  createHandler,
  type FetchHandler,
  toFastifyPlugin,
  toNodeHandler,
  underPrefix,
} from '../../src/server/index.js'
import { freshSchemaName, postgresUrl } from '../support/database.js'
import { createTransportHandler } from './next-app/transport-handler.js'
import { startNext } from './next-server.js'

interface Running {
  url: string
  close(): Promise<unknown>
}

/** Starts an application that has the first handler under `/escapement` and the second under `/internal/jobs`. */
type Start = (transport: FetchHandler, real: FetchHandler) => Promise<Running>

const schema = freshSchemaName()
let escapement: Escapement
let token: string

beforeAll(async () => {
  escapement = await createEscapement({ database: postgresUrl(), schema })
  escapement.job('report', { handler: () => {} })
  await escapement.schedules.put('nightly', { job: 'report', timing: cron('0 3 * * *') })
  // Publishes the job for processes without its code.
  await escapement.start({ roles: ['worker'] })
  await escapement.stop()
  token = (await escapement.tokens.create({ name: 'test', role: 'admin' })).token
})
afterAll(async () => {
  await escapement.database.query(`drop schema "${schema}" cascade`)
  await escapement.close()
})

async function listening(server: http.Server): Promise<Running> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.close().closeAllConnections()
    return once(server, 'close')
  }
  return { url: `http://127.0.0.1:${port}`, close }
}

const APPLICATIONS: Record<string, Start> = {
  'node:http': (transport, real) => {
    const first = toNodeHandler(underPrefix(transport, '/escapement'))
    const second = toNodeHandler(real)
    const server = http.createServer((req, res) => {
      if (/^\/escapement(?:[/?]|$)/.test(req.url!)) first(req, res)
      else if (/^\/internal\/jobs(?:[/?]|$)/.test(req.url!)) second(req, res)
      else res.writeHead(404).end('theirs')
    })
    return listening(server)
  },
  Express: (transport, real) => {
    const app = express()
    app.use('/escapement', toNodeHandler(transport))
    app.use('/internal/jobs', toNodeHandler(real))
    return listening(http.createServer(app))
  },
  'Express by a route': (transport, real) => {
    const app = express()
    // Here the handler is given the path whole, and there without the prefix that it is told of.
    app.all(/^\/escapement(?:\/|$)/, toNodeHandler(underPrefix(transport, '/escapement')))
    app.use('/internal', express.Router().use('/jobs', toNodeHandler(real)))
    return listening(http.createServer(app))
  },
  'Express behind a body parser': (transport, real) => {
    const app = express()
    app.use(express.json({ limit: '100mb' }), express.urlencoded(), express.text())
    app.use('/escapement', toNodeHandler(transport))
    app.use('/internal/jobs', toNodeHandler(real))
    return listening(http.createServer(app))
  },
  async Fastify(transport, real) {
    const app = fastify()
    app.register(toFastifyPlugin(transport), { prefix: '/escapement' })
    app.register(toFastifyPlugin(real), { prefix: '/internal/jobs' })
    return { url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() }
  },
  'Hono by mount': (transport, real) => {
    const app = new Hono()
    app.all('/escapement/*', mount(transport))
    app.mount('/internal/jobs', real)
    return listening(createAdaptorServer({ fetch: app.fetch }) as http.Server)
  },
  'Hono by a route': (transport, real) => {
    const app = new Hono()
    const first = underPrefix(transport, '/escapement')
    const second = real
    app.all('/escapement/*', (context) => first(context.req.raw))
    app.all('/internal/jobs/*', (context) => second(context.req.raw))
    return listening(createAdaptorServer({ fetch: app.fetch }) as http.Server)
  },
  'Next.js': () => startNext({ DATABASE_URL: postgresUrl(), ESCAPEMENT_SCHEMA: schema }),
}

describe.each(Object.entries(APPLICATIONS))('mounted in %s', (_name, start) => {
  let app: Running
  beforeAll(async () => {
    app = await start(createTransportHandler(), createHandler(escapement, { prefix: '/internal/jobs' }))
  })
  afterAll(() => app.close())

  const ask = (path: string, init?: RequestInit) => fetch(`${app.url}/escapement${path}`, init)
  const asJson = { 'content-type': 'application/json' }

  it('sees the path after the prefix', async () => {
    const response = await ask('/echo/a%2Fb%20c/%C3%BC?q=%2F&r=1')
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toMatchObject({ method: 'GET', path: '/echo/a%2Fb%20c/%C3%BC?q=%2F&r=1' })
  })

  it('answers a request for the head alone', async () => {
    const response = await ask('/echo', { method: 'HEAD' })
    expect(response.headers.get('x-method')).toBe('HEAD')
  })

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('takes a body by %s', async (method) => {
    const headers = { ...asJson, 'if-match': '"3"' }
    const body = '{"a":[1,{"b":"ü"}]}'
    const response = await ask('/echo', { method, headers, body })
    expect(await response.json()).toMatchObject({ method, path: '/echo', body, ifMatch: '"3"' })
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/octet-stream'])(
    'takes a body of type %s',
    async (type) => {
      const response = await ask('/echo', { method: 'POST', headers: { 'content-type': type }, body: 'a=1' })
      expect(await response.json()).toMatchObject({ body: 'a=1' })
    },
  )

  it('takes a request that could have a body and has none', async () => {
    const response = await ask('/echo', { method: 'POST', headers: asJson })
    expect(await response.json()).toMatchObject({ length: 0 })
  })

  it('takes a large body', async () => {
    const body = JSON.stringify({ text: 'x'.repeat(5_000_000) })
    const response = await ask('/echo', { method: 'POST', headers: asJson, body })
    expect(await response.json()).toMatchObject({ length: body.length })
  })

  it('leaves what is outside to the application', async () => {
    expect((await ask('/nothing')).headers.get('x-from')).toBe('handler')
    expect((await ask('')).headers.get('x-from')).toBe('handler')
    const outside = await fetch(`${app.url}/escapement2/echo`)
    expect([outside.status, outside.headers.get('x-from')]).toEqual([404, null])
  })

  it('streams: each chunk arrives before the next is made', async () => {
    const response = await ask('/ticks')
    const chunks = chunksOf(response)
    expect(await chunks.next()).toMatchObject({ value: 'tick 1\n' })
    await ask('/ticks', { method: 'POST' })
    expect(await chunks.next()).toMatchObject({ value: 'tick 2\n' })
    await ask('/ticks', { method: 'POST' })
    expect(await chunks.next()).toMatchObject({ value: 'tick 3\n' })
    expect(await chunks.next()).toMatchObject({ done: true })
  })

  it('hears of a client that goes away', async () => {
    const client = new AbortController()
    const response = await ask('/endless', { signal: client.signal })
    await chunksOf(response).next()
    client.abort()
    expect(await (await ask('/endings')).json()).toEqual({ signalled: true, cancelled: true })
  })

  it('serves the API', async () => {
    const client = createHttpClient({ url: `${app.url}/internal/jobs`, token })
    const { version } = await client.schedules.get('nightly')
    await expect(
      client.schedules.pause('nightly', {}, { expectedVersion: version + 1 }),
    ).rejects.toMatchObject({
      code: 'version_conflict',
    })
    const paused = await client.schedules.pause(
      'nightly',
      { reason: 'by a test' },
      { expectedVersion: version },
    )
    expect(paused).toMatchObject({ state: 'paused', version: version + 1 })
    await client.schedules.resume('nightly')
    const { id } = await client.runs.enqueue({ job: 'report', input: 'ü' }, { idempotencyKey: app.url })
    expect((await client.runs.get(id)).run).toMatchObject({ input: 'ü', key: app.url })
    await expect(client.schedules.get('nobody')).rejects.toMatchObject({ code: 'schedule_not_found' })
    const docs = await fetch(`${app.url}/internal/jobs/docs`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(await docs.text()).toContain('href="docs.css"')
    expect((await fetch(`${app.url}/internal/jobs/api/v1/schedules`)).status).toBe(401)
  })

  it('serves the dashboard, at every address of its views', async () => {
    for (const path of ['', '/schedules/nightly?tab=runs']) {
      const address = `${app.url}/internal/jobs${path}`
      const page = await fetch(address, { headers: { accept: 'text/html' } })
      const html = await page.text()
      expect([page.status, page.headers.get('content-security-policy')]).toEqual([
        200,
        expect.stringMatching(/script-src 'self';.*frame-ancestors 'none'/),
      ])
      const [, base] = /<base href="([^"]*)"/.exec(html)!
      const [, script] = /<script[^>]* src="([^"]*)"/.exec(html)!
      const file = await fetch(new URL(script!, new URL(base!, address)), {
        headers: { 'accept-encoding': 'br' },
      })
      expect([file.status, file.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8'])
      expect(await file.text()).toContain('Escapement')
    }
  })
})

async function* chunksOf(response: Response): AsyncGenerator<string> {
  for await (const chunk of response.body!) yield Buffer.from(chunk).toString()
}

describe('Express', () => {
  it('undoes the encoding of a body that it parses, and is told of errors', async () => {
    const app = express()
    app.use('/escapement', express.json(), toNodeHandler(createTransportHandler()))
    app.use((error: Error, _req: ExpressRequest, res: ExpressResponse, _next: NextFunction) => {
      res.status(503).send(`theirs: ${error.message}`)
    })
    const { url, close } = await listening(http.createServer(app))
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const parsed = await fetch(`${url}/escapement/echo`, {
      method: 'POST',
      headers,
      body: gzipSync('{ "a": 1 }'),
    })
    expect(await parsed.json()).toMatchObject({ body: '{"a":1}' })
    const failed = await fetch(`${url}/escapement/failure`)
    expect([failed.status, await failed.text()]).toEqual([503, 'theirs: of the handler'])
    await close()
  })
})

describe('Fastify', () => {
  it('runs its hooks first, sends their headers, and keeps its parsers outside', async () => {
    const app = fastify()
    app.addHook('onRequest', async (_request, reply) => void reply.header('x-theirs', 'yes'))
    app.addHook('preHandler', async (request, reply) => {
      if (request.headers.authorization !== 'theirs') return reply.code(401).send('refused by a hook')
    })
    const ended = new Promise((resolve) => app.addHook('onResponse', async () => resolve('told')))
    app.post('/own', async (request) => ({ parsed: request.body }))
    app.register(toFastifyPlugin(createTransportHandler()), { prefix: '/:tenant/jobs' })
    const refused = await app.inject('/acme/jobs/echo')
    expect([refused.statusCode, refused.body]).toEqual([401, 'refused by a hook'])
    const headers = { authorization: 'theirs' }
    const passed = await app.inject({ url: '/acme/jobs/echo?q=1', headers })
    expect(passed.headers['x-theirs']).toBe('yes')
    expect(passed.json()).toMatchObject({ path: '/echo?q=1' })
    expect(await ended).toBe('told')
    const own = await app.inject({ method: 'POST', url: '/own', headers, body: { a: 1 } })
    expect(own.json()).toEqual({ parsed: { a: 1 } })
    await app.close()
  })

  it('reads what a hook makes of the body', async () => {
    const app = fastify()
    app.addHook('preParsing', async (_request, _reply, payload) => payload.pipe(createGunzip()))
    app.register(toFastifyPlugin(createTransportHandler()), { prefix: '/escapement' })
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const body = gzipSync('{ "a": 1 }')
    const response = await app.inject({ method: 'POST', url: '/escapement/echo', headers, body })
    expect(response.json()).toMatchObject({ body: '{ "a": 1 }' })
    await app.close()
  })

  it('is told of errors', async () => {
    const app = fastify()
    app.setErrorHandler((error, _request, reply) =>
      reply.code(503).send(`theirs: ${(error as Error).message}`),
    )
    app.register(toFastifyPlugin(createTransportHandler()), { prefix: '/escapement' })
    const response = await app.inject('/escapement/failure')
    expect([response.statusCode, response.body]).toEqual([503, 'theirs: of the handler'])
    await app.close()
  })
})

it('the example for Next.js has put its schedule and published its job, while it served', async () => {
  expect(await escapement.schedules.get('digest:nightly')).toMatchObject({ job: 'digest', state: 'active' })
  expect(await escapement.jobs()).toContainEqual(expect.objectContaining({ name: 'digest' }))
})
