import { describe, expect, it } from 'vitest'
import { createHttpClient } from '../../src/http-client/index.js'
import { BASE, openWorld } from './world.js'

const local = { auth: 'local' } as const

describe('an export over HTTP', () => {
  it('is whole, and after a move every change is answered with 410, and reading goes on', async () => {
    const world = await openWorld(local)
    const name = await world.schedule()
    const client = createHttpClient({ url: BASE, fetch: world.handler })
    let text = ''
    for await (const piece of client.export({ mode: 'move' })) text += Buffer.from(piece)
    expect(text).toContain(`"name":"${name}"`)
    expect(text.trimEnd().split('\n').at(-1)).toMatch(/^\{"end":/)
    const refused = await world.ask(`POST /api/v1/schedules/${name}/pause`)
    expect(refused.status).toBe(410)
    expect(await refused.json()).toMatchObject({
      code: 'moved',
      detail: expect.stringContaining('was moved away'),
    })
    expect((await client.schedules.get(name)).state).toBe('active')
    expect(await client.audit()).toMatchObject({ missing: [] })
    expect((await world.ask('GET /ready')).status).toBe(503)
    expect(await client.undoMove()).toEqual({ undone: true })
    expect((await client.schedules.pause(name)).state).toBe('paused')
  })

  it('that cannot begin is a problem, and one that is given up moves nothing', async () => {
    const world = await openWorld(local)
    await world.run()
    await world.escapement.database.query(
      `update "${world.schema}".runs_open set state = 'running', lease_token = gen_random_uuid(), attempt = 1,
         lease_expires_at = clock_timestamp() + interval '1 hour', max_attempts = 1, fails_when_stale = false`,
    )
    const busy = await world.ask('POST /api/v1/export', { body: { mode: 'move', wait: '0.02s' } })
    expect(busy.status).toBe(409)
    expect(await busy.json()).toMatchObject({ code: 'run_open', details: { total: 1 } })
    const giveUp = new AbortController()
    const waiting = world.ask('POST /api/v1/export', { body: { mode: 'move' }, signal: giveUp.signal })
    await expect
      .poll(() =>
        world.escapement.database.query(
          `select 1 from "${world.schema}".control where claiming_held_until > now()`,
        ),
      )
      .toHaveLength(1)
    giveUp.abort()
    await waiting.catch(() => {})
    await world.escapement.database.query(`delete from "${world.schema}".runs_open`)
    const begun = await world.ask('POST /api/v1/export', { body: { mode: 'move' } })
    expect(begun.status).toBe(200)
    await begun.body!.cancel()
    expect(await world.escapement.moved()).toBeNull()
    const [control] = await world.escapement.database.query(
      `select claiming_held_until from "${world.schema}".control`,
    )
    expect(control).toEqual({ claiming_held_until: null })
  })

  it('is refused where values are hidden', async () => {
    const world = await openWorld({ ...local, redact: ['secret'] })
    const response = await world.ask('POST /api/v1/export')
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({ detail: expect.stringContaining('--database') })
  })
})
