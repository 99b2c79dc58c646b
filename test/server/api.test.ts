import { describe, expect, it } from 'vitest'
import { createHttpClient } from '../../src/http-client/index.js'
import { every } from '../../src/index.js'
import { listen } from '../../src/server/listen.js'
import { REDACTED } from '../../src/server/redaction.js'
import { BASE, openWorld, PLAN_TIME, type World } from './world.js'

const admin = { authenticate: () => ({ name: 'ann', role: 'admin' }) as const }
const clientOf = ({ handler }: World) => createHttpClient({ url: BASE, fetch: handler })
const daily = { job: 'work', timing: { kind: 'every', every: '1 day' } } as const
const code = (expected: string) => expect.objectContaining({ code: expected })

describe('edits that meet', () => {
  it('are told apart by the version in the ETag', async () => {
    const world = await openWorld(admin)
    const put = (headers: Record<string, string>, priority: number) =>
      world.ask('PUT /api/v1/schedules/report:acme', { headers, body: { ...daily, priority } })
    const created = await put({ 'if-none-match': '*' }, 1)
    expect([created.status, created.headers.get('etag')]).toEqual([201, '"1"'])
    expect(await (await put({ 'if-none-match': '*' }, 2)).json()).toMatchObject({
      status: 409,
      code: 'schedule_exists',
    })
    const edited = await put({ 'if-match': '"1"' }, 2)
    expect([edited.status, edited.headers.get('etag')]).toEqual([200, '"2"'])
    expect(await (await put({ 'if-match': '"1"' }, 3)).json()).toMatchObject({
      status: 412,
      code: 'version_conflict',
    })
    expect((await world.escapement.schedules.get('report:acme')).priority).toBe(2)
    expect((await put({}, 2)).status).toBe(200)
    const puts = await Promise.all(
      [1, 2, 3].map((priority) => world.ask('PUT /api/v1/schedules/race', { body: { ...daily, priority } })),
    )
    expect(puts.map(({ status }) => status).sort()).toEqual([200, 200, 201])
    const got = await world.ask('GET /api/v1/schedules/report:acme')
    expect(got.headers.get('etag')).toBe('"2"')
  })
})

describe('what is to come', () => {
  it('is told to a token of one group for that group alone', async () => {
    const world = await openWorld({ authenticate: () => ({ name: 'ann', role: 'viewer', group: 'acme' }) })
    const timing = every('1 day')
    await world.escapement.schedules.put('own', { job: 'work', timing, group: 'acme' })
    await world.escapement.schedules.put('other', { job: 'work', timing, group: 'other' })
    const range = { from: PLAN_TIME, to: '2099-06-02T00:00:00.000Z' }
    const { forecast, schedules } = clientOf(world)
    expect(await forecast({ ...range, bucket: '1 day' })).toMatchObject({
      buckets: [{ group: 'acme', runs: 1 }],
      isEstimate: false,
    })
    expect(await forecast({ ...range, bucket: '1 day', group: 'other' })).toEqual({
      buckets: [],
      isEstimate: false,
    })
    expect(await schedules.planned(range)).toMatchObject({
      schedules: [{ name: 'own', planTimes: 1 }],
      nextPageToken: null,
    })
    expect((await schedules.planned({ ...range, group: 'other' })).schedules).toEqual([])
  })
})

describe('asking twice', () => {
  it('gives the same run under one idempotency key', async () => {
    const world = await openWorld(admin)
    const name = await world.schedule()
    const headers = { 'idempotency-key': 'order-4711' }
    const trigger = () => world.ask(`POST /api/v1/schedules/${name}/trigger`, { headers })
    const [first, again] = [await trigger(), await trigger()]
    expect([first.status, again.status]).toEqual([201, 200])
    const { id } = (await first.json()) as { id: string }
    expect(await again.json()).toEqual({ id, created: false })

    const enqueue = (body: object) => world.ask('POST /api/v1/runs', { headers, body })
    const one = await enqueue({ job: 'work', input: 1 })
    const two = await enqueue({ job: 'work', input: 1, key: 'order-4711' })
    expect([one.status, two.status]).toEqual([201, 200])
    expect(((await one.json()) as { id: string }).id).toBe(((await two.json()) as { id: string }).id)
    expect(await (await enqueue({ job: 'work', key: 'another' })).json()).toMatchObject({
      status: 422,
      mistakes: [{ field: 'key' }],
    })
  })
})

describe('figures over time', () => {
  it('are given by buckets, with instants as texts, and refused where they would be too many', async () => {
    const world = await openWorld(admin)
    await world.escapement.database.query(
      `insert into "${world.schema}".run_minutes values
         ('2026-03-01T12:00:00Z', 3, 1, 0, 0, 4, '{1,0,2,1}', 3), ('2026-03-01T12:30:00Z', 0, 0, 1, 2, 0, '{}', null),
         ('2026-03-01T13:59:00Z', 1, 0, 0, 0, 1, '{0,1}', 1)`,
    )
    const client = clientOf(world)
    const range = { from: '2026-03-01T12:00:30Z', to: '2026-03-01T14:00:00Z' }
    const none = { succeeded: 0, failed: 0, cancelled: 0, skipped: 0 }
    expect(await client.statsHistory({ ...range, bucket: '1 hour' })).toEqual({
      from: '2026-03-01T12:00:00.000Z',
      to: '2026-03-01T14:00:00.000Z',
      bucketMs: 3_600_000,
      points: [
        {
          from: '2026-03-01T12:00:00.000Z',
          succeeded: 3,
          failed: 1,
          cancelled: 1,
          skipped: 2,
          lateness: { runs: 4, p50: 2, p95: 3, p99: 3, max: 3 },
        },
        {
          ...none,
          from: '2026-03-01T13:00:00.000Z',
          succeeded: 1,
          lateness: { runs: 1, p50: 1, p95: 1, p99: 1, max: 1 },
        },
      ],
    })
    expect((await client.statsHistory(range)).points).toHaveLength(3)
    expect((await client.statsHistory()).points).toEqual([])
    await expect(client.statsHistory({ bucket: '10 seconds' })).rejects.toThrow(/^bucket: 10000 ms/)
  })
})

describe('a refusal', () => {
  it('names every mistake with its field', async () => {
    const world = await openWorld(admin)
    const body = { timing: { kind: 'crom' }, priority: 'high', qeue: 'mail' }
    const response = await world.ask('PUT /api/v1/schedules/a', { body })
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(await response.json()).toMatchObject({
      type: 'urn:escapement:problem:request_invalid',
      title: 'Request invalid',
      status: 422,
      code: 'request_invalid',
      mistakes: [
        { field: 'job', message: 'is missing' },
        {
          field: 'timing.kind',
          message: '"crom" – must be one of "once", "every", "cron", "after", "rrule"',
        },
        { field: 'priority', message: '"high" – must be a number' },
        { field: 'qeue', message: 'unknown field (did you mean "queue"?)' },
      ],
    })
    const timing = { kind: 'cron', expression: '61 * * * *' }
    expect(
      await (await world.ask('PUT /api/v1/schedules/a', { body: { job: 'work', timing } })).json(),
    ).toMatchObject({
      code: 'schedule_invalid',
      mistakes: [{ field: 'timing.expression', message: expect.stringContaining('minute 61') }],
    })
  })

  it('says which methods a path has, and what is not there', async () => {
    const world = await openWorld(admin)
    const wrong = await world.ask('POST /api/v1/schedules')
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET'])
    expect(await (await world.ask('GET /api/v2/schedules')).json()).toMatchObject({ code: 'not_found' })
    expect(await (await world.ask('GET /api/v1/schedules/nobody')).json()).toMatchObject({
      status: 404,
      code: 'schedule_not_found',
    })
  })

  it('is a 503 while the database is away', async () => {
    const down = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    const world = await openWorld({
      authenticate: () => {
        throw down
      },
    })
    const response = await world.ask('GET /api/v1/schedules')
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await response.json()).toMatchObject({ code: 'database_unreachable' })
  })
})

describe('every answer', () => {
  it('may not be framed, sniffed or kept', async () => {
    const world = await openWorld(admin)
    for (const path of ['/api/v1/schedules', '/api/v1/nothing', '/docs', '/openapi.json', '/health']) {
      const { headers } = await world.ask(`GET ${path}`)
      expect([path, headers.get('content-security-policy')]).toEqual([
        path,
        expect.stringMatching(/default-src 'none'.*frame-ancestors 'none'/),
      ])
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('cache-control')).toBe('no-store')
    }
  })

  it('leaves out what is to be redacted, and refuses to put its stand-in', async () => {
    const world = await openWorld({ ...admin, redact: ['password'] })
    const input = { user: 'ann', login: { Password: 'hunter2' } }
    await world.ask('PUT /api/v1/schedules/a', { body: { ...daily, input } })
    const hidden = { user: 'ann', login: { Password: REDACTED } }
    expect(await (await world.ask('GET /api/v1/schedules/a')).json()).toMatchObject({ input: hidden })
    expect(await (await world.ask('GET /api/v1/schedules/a/changes')).text()).not.toContain('hunter2')
    const put = await world.ask('PUT /api/v1/schedules/a', { body: { ...daily, input: hidden } })
    expect(put.status).toBe(422)
    expect((await world.escapement.schedules.get('a')).input).toEqual(input)
  })
})

describe('the dashboard', () => {
  const asBrowser = { headers: { accept: 'text/html,*/*' } }

  it('is there for anybody, also without its body, and says who may ask for the rest', async () => {
    const world = await openWorld()
    const page = await world.ask('GET /schedules/a', asBrowser)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const [, script] = /src="\.(\/assets\/[\w-]+\.js)"/.exec(await page.text())!
    const head = await world.ask(`HEAD ${script}`)
    expect([head.status, head.headers.get('cache-control')]).toEqual([
      200,
      'public, max-age=31536000, immutable',
    ])
    expect(await head.text()).toBe('')
    expect((await world.ask('GET /api/v1/schedules', asBrowser)).status).toBe(401)
    expect((await world.ask('POST /schedules', asBrowser)).status).toBe(401)
    expect((await world.ask('GET /schedules')).status).toBe(401)
  })

  it('can be turned off', async () => {
    const world = await openWorld({ ...admin, dashboard: false })
    expect((await world.ask('GET /', asBrowser)).status).toBe(404)
    expect((await world.ask('GET /assets/a.js')).status).toBe(404)
  })
})

describe('the docs page', () => {
  it('has every operation, and asks for nothing from elsewhere', async () => {
    const world = await openWorld(admin)
    const html = await (await world.ask('GET /docs')).text()
    const document = (await (await world.ask('GET /openapi.json')).json()) as {
      paths: Record<string, Record<string, { operationId: string }>>
    }
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
    expect(operations.length).toBeGreaterThan(45)
    for (const { operationId } of operations) expect(html).toContain(`id="${operationId}"`)
    expect(html).not.toMatch(/<script|https?:\/\/|style=/)
    expect((await world.ask('GET /docs.css')).headers.get('content-type')).toContain('text/css')
  })
})

describe('the client', () => {
  it('has the verbs of the library, with their errors', async () => {
    const world = await openWorld(admin)
    const client = clientOf(world)
    const { version } = await client.schedules.put('a:b/c'.replace('/', '-'), daily)
    await client.schedules.patch('a:b-c', { priority: 3 }, { expectedVersion: version })
    await expect(
      client.schedules.patch('a:b-c', { priority: 4 }, { expectedVersion: version }),
    ).rejects.toThrow(code('version_conflict'))
    await expect(client.schedules.put('a:b-c', daily, { expectedVersion: 0 })).rejects.toThrow(
      code('schedule_exists'),
    )
    await client.schedules.skip('a:b-c', PLAN_TIME)
    const { occurrences } = await client.schedules.occurrences('a:b-c', {
      from: PLAN_TIME,
      to: '2099-06-02T00:00:00Z',
    })
    expect(occurrences).toEqual([expect.objectContaining({ planTime: PLAN_TIME, reason: 'operator' })])
    const { id } = await client.runs.enqueue({ job: 'work', input: { n: 1 } }, { idempotencyKey: 'k' })
    expect((await client.runs.get(id)).run).toMatchObject({ id, input: { n: 1 }, key: 'k', state: 'pending' })
    expect((await client.runs.list({ state: ['pending', 'running'], limit: 1 })).runs).toHaveLength(1)
    await client.runs.cancel(id, { reason: 'enough' })
    expect(await client.session()).toMatchObject({ name: 'ann', role: 'admin' })
    await expect(client.schedules.get('nobody')).rejects.toThrow(code('schedule_not_found'))
    await expect(client.runs.enqueue({ job: 'unheard-of' })).rejects.toThrow(code('unknown_job'))
  })

  it('goes through all pages', async () => {
    const world = await openWorld(admin)
    const client = clientOf(world)
    const names = Array.from({ length: 25 }, (_, index) => `page:${String(index).padStart(2, '0')}`)
    await client.schedules.sync({ schedules: Object.fromEntries(names.map((name) => [name, daily])) })
    const found: string[] = []
    let pageToken: string | null = null
    do {
      const page: Awaited<ReturnType<typeof client.schedules.list>> = await client.schedules.list({
        limit: 10,
        q: 'page',
        ...(pageToken !== null && { pageToken }),
      })
      found.push(...page.schedules.map(({ name }) => name))
      pageToken = page.nextPageToken
    } while (pageToken !== null)
    expect(found).toEqual(names)
  })

  it('says what is at the other end, if it is not Escapement', async () => {
    const elsewhere = createHttpClient({
      url: BASE,
      fetch: async () => new Response('<html>', { status: 502 }),
    })
    await expect(elsewhere.stats()).rejects.toThrow(code('server_unreachable'))
    const nowhere = createHttpClient({ url: 'http://127.0.0.1:1' })
    await expect(nowhere.stats()).rejects.toThrow(/Cannot reach the server at http:\/\/127.0.0.1:1/)
    expect(() => createHttpClient({ url: 'nonsense' })).toThrow(code('option_invalid'))
  })

  it('works over a socket', async () => {
    const world = await openWorld()
    const server = await listen(world.handler, { host: '127.0.0.1', port: 0 })
    try {
      const client = createHttpClient({ url: server.url, token: await world.token('viewer') })
      expect((await client.schedules.list()).schedules).toEqual([])
      await expect(client.schedules.put('a', daily)).rejects.toThrow(code('forbidden'))
    } finally {
      await server.close()
    }
  })
})
