import { expect, it, onTestFinished } from 'vitest'
import { createEscapement, every } from '../../src/index.js'
import { startPostgres } from '../support/postgres-server.js'

it('waits out a database that is away, says so once, and goes on when it is back', async () => {
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
  await server.restart()
  const before = ran
  await expect.poll(() => ran, { timeout: 20_000 }).toBeGreaterThan(before + 2)
  const waits = logged.filter((message) => message === 'the scheduler waits for the database')
  expect(waits).toHaveLength(1)
  await escapement.stop()
  expect(await escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
})
