import net from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createEscapement } from '../../src/escapement.js'
import { createHttpClient } from '../../src/http-client/index.js'
import { createHandler } from '../../src/server/handler.js'
import { serve } from '../../src/server/serve.js'
import { freshSchemaName, postgresUrl } from '../support/database.js'
import { BASE, openWorld, type World } from './world.js'

const admin = { authenticate: () => ({ name: 'ann', role: 'admin' }) as const }
const daily = { job: 'work', timing: { kind: 'every', every: '1 day' } } as const

/** The longest that the event loop stood still meanwhile. */
async function standstill(work: () => Promise<unknown>): Promise<number> {
  let [last, longest] = [performance.now(), 0]
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 1)
  await work()
  clearInterval(timer)
  return Math.max(longest, performance.now() - last)
}

describe('what costs the sender little', () => {
  it('does not stop others: a million unknown fields', async () => {
    const world = await openWorld(admin)
    const fields = Object.fromEntries(Array.from({ length: 200_000 }, (_, n) => [`f${n}`, 1]))
    const body = { timing: daily.timing, ...fields }
    const stood = await standstill(async () => {
      const response = await world.ask('POST /api/v1/preview', { body })
      const { mistakes } = (await response.json()) as { mistakes: unknown[] }
      expect([response.status, mistakes.length]).toEqual([422, 20])
    })
    // Thirty seconds before; reading so much takes its time as well.
    expect(stood).toBeLessThan(5_000)
  })

  it('does not stop others: a rule whose plan times take long to find', async () => {
    const world = await openWorld(admin)
    const every = (most: number) => Array.from({ length: most }, (_, n) => n).join(',')
    const rule = `FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=${every(24)};BYMINUTE=${every(60)};BYSECOND=${every(60)};BYSETPOS=-1`
    const body = { timing: { kind: 'rrule', rule }, limit: 20_000, count: 3 }
    let answered = 0
    let isDone = false
    const preview = world.ask('POST /api/v1/preview', { body }).finally(() => {
      isDone = true
    })
    while (!isDone) {
      await new Promise((resolve) => setImmediate(resolve))
      await (await world.ask('GET /health')).text()
      answered += 1
    }
    expect((await preview).status).toBe(200)
    expect(answered).toBeGreaterThan(3)
  })

  it('is refused before it is read: what anybody may send is small', async () => {
    const world = await openWorld()
    const response = await world.ask('POST /api/v1/session', { body: { token: 'x'.repeat(2_000) } })
    expect(await response.json()).toMatchObject({ status: 413, code: 'body_too_large' })
  })

  it('ends a page that grows too large, and goes on from there', async () => {
    const world = await openWorld(admin)
    const input = 'x'.repeat(300_000)
    const items = Array.from({ length: 60 }, () => ({ input }))
    for (let n = 0; n < 60; n += 6) await world.escapement.runs.enqueueMany('work', items.slice(n, n + 6))
    const client = createHttpClient({ url: BASE, fetch: world.handler })
    const pages: number[] = []
    const seen = new Set<string>()
    let pageToken: string | null = null
    do {
      const page: Awaited<ReturnType<typeof client.runs.list>> = await client.runs.list({
        limit: 1_000,
        ...(pageToken !== null && { pageToken }),
      })
      pages.push(page.runs.length)
      for (const { id } of page.runs) seen.add(id)
      pageToken = page.nextPageToken
    } while (pageToken !== null)
    expect(seen.size).toBe(60)
    expect(Math.max(...pages)).toBeLessThan(60)
  })

  it('is a problem, whatever the host is said to be', async () => {
    const world = await openWorld()
    const server = await serve(world.escapement, { port: 0 })
    onTestFinished(() => server.close())
    const { port } = new URL(server.url)
    for (const host of ['127.999.999.999', '1.2.3.4.5', 'xn--', '0xffffffffff']) {
      const answer = await new Promise<string>((resolve, reject) => {
        const socket = net.connect(Number(port), '127.0.0.1', () =>
          socket.write(`GET /health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
        )
        let text = ''
        socket.on('data', (data) => {
          text += data
        })
        socket.on('close', () => resolve(text))
        socket.on('error', reject)
      })
      expect(answer).toMatch(/^HTTP\/1.1 400 .*nosniff.*"code":"malformed_request"/s)
    }
  })
})

describe('a condition', () => {
  it('that an operation does not know is refused, not ignored', async () => {
    const world = await openWorld(admin)
    const name = await world.schedule()
    for (const [line, headers] of [
      [`PATCH /api/v1/schedules/${name}`, { 'if-none-match': '*' }],
      [`DELETE /api/v1/schedules/${name}`, { 'if-none-match': '*' }],
      [`POST /api/v1/schedules/${name}/trigger`, { 'if-match': '"1"' }],
      [`POST /api/v1/schedules/${name}/pause`, { 'idempotency-key': 'k' }],
    ] as const) {
      const body = line.startsWith('PATCH') ? { body: { priority: 1 } } : {}
      expect([line, (await world.ask(line, { headers, ...body })).status]).toEqual([line, 422])
    }
    expect(await world.escapement.schedules.get(name)).toMatchObject({ version: 1, state: 'active' })
    const weak = await world.ask(`POST /api/v1/schedules/${name}/pause`, { headers: { 'if-match': 'W/"1"' } })
    expect(weak.status).toBe(200)
  })

  it('that is in the way of another transaction is busy, not broken', async () => {
    const schema = freshSchemaName()
    const escapement = await createEscapement({ database: postgresUrl(), schema })
    onTestFinished(async () => {
      await escapement.database.query(`drop schema "${schema}" cascade`)
      await escapement.close()
    })
    const failing = Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' })
    const handler = createHandler(escapement, {
      authenticate: () => {
        throw failing
      },
    })
    const response = await handler(new Request(`${BASE}/api/v1/schedules`))
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await response.json()).toMatchObject({ code: 'database_busy' })
  })
})

describe('what is hidden', () => {
  it('cannot be guessed by comparing, nor shown by its own name', async () => {
    const world = await openWorld({ ...admin, redact: ['pin', 'metadata'] })
    await world.ask('PUT /api/v1/schedules/a', {
      body: { ...daily, input: { pin: 4711 }, metadata: { a: 1 } },
    })
    const fieldsOf = async (fields: object) =>
      (
        (await (await world.ask('POST /api/v1/schedules/a/diff', { body: { fields } })).json()) as {
          fields: string[]
        }
      ).fields
    expect(await fieldsOf({ input: { pin: 4711 } })).toEqual(['input'])
    expect(await fieldsOf({ input: { pin: 4712 } })).toEqual(['input'])
    expect(await (await world.ask('GET /api/v1/schedules/a')).json()).toMatchObject({
      metadata: '[redacted]',
    })
    const pause = await world.ask('POST /api/v1/schedules/a/pause', { body: { reason: '[redacted]' } })
    expect(pause.status).toBe(200)
  })

  it('is not told to a token of a group by a job that it gets wrong', async () => {
    const world = await openWorld()
    world.escapement.job('payroll', { handler: () => null })
    const token = await world.token('admin', 'acme')
    const response = await world.ask('PUT /api/v1/schedules/a', { token, body: { ...daily, job: 'payrol' } })
    expect([response.status, await response.text()]).toEqual([422, expect.not.stringContaining('payroll')])
  })
})

describe('cookies and other headers', () => {
  const open = async (world: World, token: string) => {
    const response = await world.ask('POST /api/v1/session', { body: { token } })
    return response.headers.get('set-cookie')!.split(';')[0]!
  }

  it('of others are passed over', async () => {
    const world = await openWorld({ auth: 'local' })
    const stale = { cookie: 'escapement_session=of-another-server' }
    expect((await world.ask('GET /api/v1/schedules', { headers: stale })).status).toBe(200)
    const basic = { authorization: 'Basic YTpi' }
    expect((await world.ask('GET /api/v1/schedules', { headers: basic })).status).toBe(200)
    const token = await world.token('admin')
    const cookie = `escapement_session=tossed; ${await open(world, token)}`
    expect((await world.ask('GET /api/v1/schedules', { headers: { cookie } })).status).toBe(200)
    expect((await world.ask('GET /api/v1/schedules', { headers: stale })).status).toBe(401)
  })

  it('of any proxy are refused where this machine alone is answered', async () => {
    const world = await openWorld({ auth: 'local' })
    for (const name of ['x-forwarded-proto', 'x-forwarded-port', 'cf-connecting-ip', 'x-client-ip', 'via']) {
      const response = await world.ask('GET /api/v1/schedules', { headers: { [name]: '1' } })
      expect([name, response.status]).toEqual([name, 403])
    }
  })

  it('open no more sessions than a few for each token', async () => {
    const world = await openWorld()
    const token = await world.token('viewer')
    const cookies: string[] = []
    for (let n = 0; n < 25; n++) cookies.push(await open(world, token))
    const status = async (cookie: string) =>
      (await world.ask('GET /api/v1/session', { headers: { cookie } })).status
    expect([await status(cookies[0]!), await status(cookies.at(-1)!)]).toEqual([401, 200])
  })
})

describe('the first token', () => {
  it('is one that can make others, where this machine alone was answered before', async () => {
    const world = await openWorld({ auth: 'local' })
    const make = (body: object) => world.ask('POST /api/v1/tokens', { body })
    expect((await make({ name: 'a', role: 'viewer' })).status).toBe(422)
    expect((await make({ name: 'a', role: 'admin', group: 'acme' })).status).toBe(422)
    expect((await make({ name: 'local', role: 'admin' })).status).toBe(422)
    expect((await make({ name: 'a', role: 'admin' })).status).toBe(200)
  })
})

describe('an authenticate of the application', () => {
  it('may read what it is given, and must answer what it should', async () => {
    const world = await openWorld({
      authenticate: async (request) => {
        await request.text()
        return request.headers.has('x-wrong')
          ? ({ name: 'ann', role: 'root' } as never)
          : { name: 'ann', role: 'admin' }
      },
    })
    expect((await world.ask('PUT /api/v1/schedules/a', { body: daily })).status).toBe(201)
    expect((await world.ask('GET /api/v1/schedules', { headers: { 'x-wrong': '1' } })).status).toBe(500)
  })
})
