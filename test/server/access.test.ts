import { describe, expect, it } from 'vitest'
import { OPERATIONS, type Operation } from '../../src/http-client/operations.js'
import { createEventHub } from '../../src/server/event-hub.js'
import { createApp } from '../../src/server/handler.js'
import { metricsOnDemand } from '../../src/server/metrics.js'
import { readHandlerOptions } from '../../src/server/options.js'
import { createRoutes, SPECS } from '../../src/server/routes/index.js'
import { EXAMPLES, lineOf } from './examples.js'
import { openWorld, type World } from './world.js'

const NAMES = Object.keys(SPECS) as Operation[]
const RANK = { viewer: 0, operator: 1, admin: 2 }
const PAGES = {
  '/health': 'anyone',
  '/ready': 'anyone',
  '/metrics': 'viewer, no group',
  '/openapi.json': 'viewer',
  '/docs': 'viewer',
  '/docs.css': 'viewer',
} as const

/** Who asks: what they may, by their role, and in which group. */
async function callers(world: World) {
  const { tokens } = world.escapement
  const expired = await tokens.create({ name: 'expired', role: 'admin', expiresAt: '2099-01-01T00:00:00Z' })
  await world.escapement.database.query(
    `update "${world.schema}".tokens set expires_at = now() - interval '1 second' where id = $1`,
    [expired.id],
  )
  const revoked = await tokens.create({ name: 'revoked', role: 'admin' })
  await tokens.revoke(revoked.id)
  const parent = await tokens.create({ name: 'parent', role: 'admin' })
  const { token: session } = await tokens.openSession(parent.id)
  const known = (role: keyof typeof RANK, token: string, group?: string) => ({ role, token, group })
  return {
    nobody: { role: null, token: undefined, group: undefined },
    viewer: known('viewer', await world.token('viewer')),
    operator: known('operator', await world.token('operator')),
    admin: known('admin', await world.token('admin')),
    'admin of the group': known('admin', await world.token('admin', 'acme'), 'acme'),
    'viewer of the group': known('viewer', await world.token('viewer', 'acme'), 'acme'),
    'admin of another group': known('admin', await world.token('admin', 'other'), 'other'),
    revoked: { role: null, token: revoked.token, group: undefined },
    expired: { role: null, token: expired.token, group: undefined },
    'a made-up token': { role: null, token: `esc_${'0'.repeat(32)}_${'a'.repeat(43)}`, group: undefined },
    'another secret': { role: null, token: `${parent.token.slice(0, -4)}aaaa`, group: undefined },
    'a session as a token': { role: null, token: session, group: undefined },
    rubbish: { role: null, token: 'Bearer', group: undefined },
  } as const
}

type Caller = Awaited<ReturnType<typeof callers>>[keyof Awaited<ReturnType<typeof callers>>]

/** What the operation's declaration says of this caller, whose resource is of the group `acme`. */
function expected(name: Operation, { role, group }: Caller): number | 'ok' {
  const spec = SPECS[name]
  if (spec.role === 'anyone') return 'ok'
  if (role === null) return 401
  if (RANK[role] < RANK[spec.role]) return 403
  if (group === undefined) return 'ok'
  if (spec.groups === 'refused') return 403
  if (group === 'acme') return 'ok'
  if (name === 'pauseGroup' || name === 'resumeGroup') return 403
  // What is put into another group is the body's mistake; what is there of another group is not there.
  if (name === 'putSchedule' || name === 'syncSchedules') return 422
  return spec.path.includes('{') ? 404 : 'ok'
}

describe('who may do what', () => {
  it('is as each operation declares it, and refusals tell nothing', async () => {
    const world = await openWorld()
    const all = Object.entries(await callers(world))
    const refusals = new Map<number, Set<string>>()
    const wrong: string[] = []
    for (const name of NAMES) {
      for (const [who, caller] of all) {
        const example = await EXAMPLES[name](world, 'acme')
        const line = lineOf(OPERATIONS[name], example)
        const { token } = caller
        const response = await world.ask(line, {
          ...(token !== undefined && { token }),
          ...(example.body !== undefined && { body: example.body }),
          ...(example.headers && { headers: example.headers }),
        })
        const wanted = expected(name, caller)
        if (wanted === 'ok' ? !response.ok : response.status !== wanted) {
          const text = response.headers.get('content-type')?.includes('event-stream')
            ? ''
            : await response.text()
          wrong.push(`${line} by ${who}: ${response.status}, not ${wanted}: ${text}`)
        } else if (wanted === 401 || wanted === 403) {
          const text = await response.text()
          const bodies = refusals.get(wanted) ?? new Set()
          refusals.set(wanted, bodies.add(text))
          const { name: schedule, id } = example.params ?? {}
          for (const value of [schedule ?? id ?? 'of-the-input', 'of-the-input']) {
            if (text.includes(value)) wrong.push(`${line} by ${who}: tells of ${value}`)
          }
          expect(response.headers.get('content-type')).toBe('application/problem+json')
        } else await response.body?.cancel()
      }
    }
    expect(wrong).toEqual([])
    // One for all: nobody unknown learns whether a path, or what it names, is there.
    expect([...refusals.get(401)!]).toHaveLength(1)
    // One for each role, one for what is not for groups, and two verbs of groups.
    expect(refusals.get(403)!.size).toBeLessThanOrEqual(5)
  })

  it('says the same of paths that are not there', async () => {
    const world = await openWorld()
    await world.token('viewer')
    const there = await (await world.ask('GET /api/v1/schedules')).text()
    const nowhere = await world.ask('GET /api/v1/nothing')
    expect(nowhere.status).toBe(401)
    expect(await nowhere.text()).toBe(there)
  })

  it('holds for pages too', async () => {
    const world = await openWorld()
    const [viewer, limited] = [await world.token('viewer'), await world.token('viewer', 'acme')]
    for (const [path, role] of Object.entries(PAGES)) {
      const status = async (token?: string) =>
        (await world.ask(`GET ${path}`, token === undefined ? {} : { token })).status
      expect([path, await status()]).toEqual([path, role === 'anyone' ? 200 : 401])
      expect([path, await status(viewer)]).toEqual([path, 200])
      expect([path, await status(limited)]).toEqual([path, role === 'viewer, no group' ? 403 : 200])
    }
  })

  it('is declared for every path', async () => {
    const { escapement } = await openWorld()
    const declared = [
      ...Object.values(SPECS).map(
        ({ method, path }) => `${method.toUpperCase()} /api/v1${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      ),
      ...Object.keys(PAGES).map((path) => `GET ${path}`),
    ]
    const app = createApp({
      escapement,
      routes: createRoutes(createEventHub(escapement)),
      settings: readHandlerOptions({}),
      metrics: metricsOnDemand(escapement),
    })
    const served = app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path}`)
    expect(served.sort()).toEqual(declared.sort())
    for (const [name, spec] of Object.entries(SPECS)) {
      expect([name, spec.role]).toEqual([name, expect.stringMatching(/^(anyone|viewer|operator|admin)$/)])
    }
    expect(
      Object.values(SPECS)
        .filter(({ role }) => role === 'anyone')
        .map(({ path }) => path),
    ).toEqual(['/session'])
  })
})

describe('without tokens', () => {
  const local = { auth: 'local' } as const

  it('answers this machine', async () => {
    const world = await openWorld(local)
    for (const host of ['127.0.0.1:4680', 'localhost', '[::1]:4680', '127.8.9.10']) {
      expect((await world.ask('GET /api/v1/schedules', { headers: { host } })).status).toBe(200)
    }
    expect(await (await world.ask('GET /api/v1/session')).json()).toMatchObject({
      via: 'local',
      role: 'admin',
    })
  })

  it('answers no foreign host, no foreign origin, and nothing that came through a proxy', async () => {
    const world = await openWorld(local)
    const refused = [
      { host: 'evil.example' },
      { host: '127.0.0.1.evil.example' },
      { host: 'localhost.evil.example:4680' },
      { host: '127.0.0.1:4680@evil.example' },
      { host: '10.0.0.1' },
      { host: '' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://localhost:9999' },
      { 'sec-fetch-site': 'cross-site' },
      { 'x-forwarded-for': '1.2.3.4' },
      { forwarded: 'for=1.2.3.4' },
    ]
    for (const headers of refused) {
      const response = await world.ask('GET /api/v1/schedules', {
        headers: { host: '127.0.0.1:4680', ...headers } as Record<string, string>,
      })
      expect([headers, response.status]).toEqual([headers, 403])
    }
    const own = { host: '127.0.0.1:4680', origin: 'http://127.0.0.1:4680' }
    expect((await world.ask('GET /api/v1/schedules', { headers: own })).status).toBe(200)
  })

  it('answers nobody where tokens are asked for', async () => {
    const world = await openWorld()
    expect((await world.ask('GET /api/v1/schedules')).status).toBe(401)
  })

  it('ends with the first token, and does not come back', async () => {
    const world = await openWorld(local)
    const made = await (
      await world.ask('POST /api/v1/tokens', { body: { name: 'first', role: 'admin' } })
    ).json()
    expect((await world.ask('GET /api/v1/schedules')).status).toBe(401)
    const { token, id } = made as { token: string; id: string }
    expect((await world.ask('GET /api/v1/schedules', { token })).status).toBe(200)
    expect((await world.ask(`DELETE /api/v1/tokens/${id}`, { token })).status).toBe(204)
    expect((await world.ask('GET /api/v1/schedules', { token })).status).toBe(401)
    expect((await world.ask('GET /api/v1/schedules')).status).toBe(401)
  })
})

describe('a session of the dashboard', () => {
  async function open(world: World, token: string) {
    const response = await world.ask('POST /api/v1/session', { body: { token } })
    const { csrfToken } = (await response.json()) as { csrfToken: string }
    const setCookie = response.headers.get('set-cookie')!
    return { setCookie, csrfToken, cookie: setCookie.split(';')[0]! }
  }

  it('is a cookie that scripts cannot read and other sites cannot send', async () => {
    const world = await openWorld()
    const { setCookie, cookie } = await open(world, await world.token('viewer'))
    expect(setCookie).toMatch(/; Path=\/; HttpOnly; SameSite=Strict; Expires=/)
    expect((await world.ask('GET /api/v1/schedules', { headers: { cookie } })).status).toBe(200)
  })

  it('changes nothing without its CSRF token, or for a page of another origin', async () => {
    const world = await openWorld()
    const { cookie, csrfToken } = await open(world, await world.token('operator'))
    const name = await world.schedule()
    const pause = (headers: Record<string, string>) =>
      world.ask(`POST /api/v1/schedules/${name}/pause`, {
        headers: { cookie, host: 'ops.example', ...headers },
      })
    expect(await (await pause({})).json()).toMatchObject({ status: 403, code: 'csrf_missing' })
    expect((await pause({ 'x-csrf-token': `${csrfToken.slice(1)}x` })).status).toBe(403)
    expect((await pause({ 'x-csrf-token': csrfToken, origin: 'https://evil.example' })).status).toBe(403)
    expect((await world.escapement.schedules.get(name)).state).toBe('active')
    expect((await pause({ 'x-csrf-token': csrfToken, origin: 'https://ops.example' })).status).toBe(200)
    expect((await world.escapement.schedules.get(name)).state).toBe('paused')
  })

  it('ends with its token, and by itself', async () => {
    const world = await openWorld()
    const made = await world.escapement.tokens.create({ name: 'ops', role: 'viewer' })
    const [first, second] = [await open(world, made.token), await open(world, made.token)]
    const status = async ({ cookie }: { cookie: string }) =>
      (await world.ask('GET /api/v1/session', { headers: { cookie } })).status
    const headers = { cookie: first.cookie, 'x-csrf-token': first.csrfToken }
    expect((await world.ask('DELETE /api/v1/session', { headers })).status).toBe(204)
    expect([await status(first), await status(second)]).toEqual([401, 200])
    await world.escapement.tokens.revoke(made.id)
    expect(await status(second)).toBe(401)
  })

  it('opens for no token that is unknown, and for no other session', async () => {
    const world = await openWorld()
    const { cookie } = await open(world, await world.token('viewer'))
    for (const token of ['', 'esc_1', cookie.split('=')[1]!]) {
      expect((await world.ask('POST /api/v1/session', { body: { token } })).status).toBe(401)
    }
  })
})

describe("the application's own authentication", () => {
  it('decides first, and leaves the rest to tokens', async () => {
    const world = await openWorld({
      authenticate: (request) =>
        request.headers.get('x-user') === null
          ? null
          : { name: request.headers.get('x-user')!, role: 'operator' },
    })
    const name = await world.schedule()
    const headers = { 'x-user': 'ann' }
    expect((await world.ask(`POST /api/v1/schedules/${name}/pause`, { headers })).status).toBe(200)
    const [change] = await world.escapement.schedules.changes(name)
    expect(change).toMatchObject({ action: 'pause', actor: 'ann' })
    expect((await world.ask(`DELETE /api/v1/schedules/${name}`, { headers })).status).toBe(403)
    const foreign = { ...headers, origin: 'https://evil.example' }
    expect((await world.ask(`POST /api/v1/schedules/${name}/resume`, { headers: foreign })).status).toBe(403)
    expect((await world.ask('GET /api/v1/schedules')).status).toBe(401)
    expect((await world.ask('GET /api/v1/schedules', { token: await world.token('viewer') })).status).toBe(
      200,
    )
  })
})

describe('tokens', () => {
  it('are kept as hashes, and shown once', async () => {
    const world = await openWorld()
    const token = await world.token('admin')
    const rows = await world.escapement.database.query(`select * from "${world.schema}".tokens`)
    expect(JSON.stringify(rows)).not.toContain(token.split('_').at(-1))
    const listed = await (await world.ask('GET /api/v1/tokens', { token })).text()
    expect(listed).not.toContain(token.split('_').at(-1))
  })

  it('name the actor of what is done with them', async () => {
    const world = await openWorld()
    const { token } = await world.escapement.tokens.create({ name: 'night shift', role: 'operator' })
    const name = await world.schedule()
    await world.ask(`POST /api/v1/schedules/${name}/pause`, { token })
    expect((await world.escapement.schedules.changes(name))[0]).toMatchObject({ actor: 'night shift' })
    expect((await world.escapement.tokens.list())[0]).toMatchObject({ lastUsedAt: expect.any(Date) })
  })
})
