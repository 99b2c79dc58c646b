import { expect, it, onTestFinished } from 'vitest'
import { createEscapement, type Escapement, every } from '../../src/index.js'
import { createHandler } from '../../src/server/handler.js'
import { startPostgres } from '../support/postgres-server.js'

it('waits out a database that is away, says so once, is healthy and not ready meanwhile, and goes on when it is back', async () => {
  const server = await startPostgres({ fsync: true })
  const logged: string[] = []
  const log = (_: object, message: string) => void logged.push(message)
  const escapement = await createEscapement({
    database: server.url,
    logger: { debug() {}, info() {}, warn: log, error: log },
  })
  onTestFinished(async () => {
    await escapement.close()
    await server.remove()
  })
  let ran = 0
  escapement.job('count', { handler: () => ++ran })
  await escapement.schedules.put('secondly', { job: 'count', timing: every('1 second') })
  await escapement.start()
  await expect.poll(() => ran, { timeout: 10_000 }).toBeGreaterThan(0)

  await server.kill()
  await expect.poll(() => logged, { timeout: 10_000 }).toContain('the scheduler waits for the database')
  await expect.poll(() => waitingOut(escapement), { timeout: 10_000 }).toEqual(['scheduler', 'worker'])
  expect(await answersOf(escapement)).toEqual([
    { status: 200, body: { status: 'ok' } },
    { status: 503, body: { status: 'unready', reason: 'database unreachable' } },
  ])
  await server.restart()
  const before = ran
  await expect.poll(() => ran, { timeout: 20_000 }).toBeGreaterThan(before + 2)
  await expect
    .poll(() => answersOf(escapement), { timeout: 10_000 })
    .toEqual([
      { status: 200, body: { status: 'ok' } },
      { status: 200, body: { status: 'ready' } },
    ])
  expect(waitingOut(escapement)).toEqual([])
  const waits = logged.filter((message) => message === 'the scheduler waits for the database')
  expect(waits).toHaveLength(1)
  await escapement.stop()
  expect(await escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
})

/** The sweeper, with nothing to sweep, sleeps through it. */
function waitingOut(escapement: Escapement): string[] {
  return escapement.health().loops.flatMap(({ loop, isWaitingOut }) => (isWaitingOut ? [loop] : []))
}

/** What a probe is told, for liveness and for readiness. */
function answersOf(escapement: Escapement) {
  const handler = createHandler(escapement)
  return Promise.all(
    ['/health', '/ready'].map(async (path) => {
      const response = await handler(new Request(`http://10.1.2.3${path}`))
      return { status: response.status, body: await response.json() }
    }),
  )
}
