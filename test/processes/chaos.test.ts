import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { assemble } from '../../src/escapement.js'
import { FixtureProcess } from '../support/child-process.js'
import { freshSchemaName, postgresUrl } from '../support/database.js'

const fixture = fileURLToPath(new URL('fixtures/chaos.ts', import.meta.url))
const SCHEDULES = 2_000
const SECONDS = process.env.ESCAPEMENT_TEST_LONG ? 120 : 20
const KILL_EVERY_MS = 2_500

it(`answers each occurrence once with four schedulers, killed again and again, through ${SECONDS} s of random edits`, async () => {
  const schema = freshSchemaName()
  const database = postgresUrl()
  const start = (role: string) => new FixtureProcess(fixture, [role, database, schema, String(SCHEDULES)])
  const fill = start('fill')
  await fill.line('filled')
  const schedulers = Array.from({ length: 4 }, () => start('scheduler'))
  const editor = start('editor')
  const { escapement, scheduler } = await assemble({ database, schema })
  onTestFinished(async () => {
    for (const process of [...schedulers, editor]) await process.kill()
    await escapement.database.query(`drop schema "${schema}" cascade`)
    await escapement.close()
  })
  await Promise.all([...schedulers, editor].map((process) => process.line('ready')))

  let kills = 0
  const until = performance.now() + SECONDS * 1000
  while (performance.now() < until) {
    await sleep(KILL_EVERY_MS)
    const victim = kills++ % schedulers.length
    await schedulers[victim]!.kill()
    schedulers[victim] = start('scheduler')
  }

  editor.signal('SIGTERM')
  const { done, refused } = (await editor.line('done')) as Record<string, Record<string, number>>
  for (const process of schedulers) await process.kill()
  while ((await scheduler.tick()).due > 0);

  const verbs = Object.values(done!).reduce((sum, times) => sum + times, 0)
  const report = await escapement.audit()
  console.log({ kills, verbs, done, refused, schedules: report.schedules, occurrences: report.occurrences })
  expect(report).toMatchObject({ missing: [], double: [], unexpected: [] })
  expect(await escapement.reconcile()).toEqual([])
  expect(report.occurrences).toBeGreaterThan(SCHEDULES)
  expect(verbs).toBeGreaterThan(SECONDS * 10)
  const [overdue] = await escapement.database.query(
    `select count(*) as count from "${schema}".cursors where wake_at < clock_timestamp() - interval '10 seconds'`,
  )
  expect(overdue).toEqual({ count: 0 })
})
