import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { assemble } from '../../src/escapement.js'
import { every } from '../../src/index.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { FixtureProcess } from '../support/child-process.js'
import { freshSchemaName, postgresUrl } from '../support/database.js'

const fixture = fileURLToPath(new URL('fixtures/crash.ts', import.meta.url))
const AT = '2026-03-01T12:00:00Z'
const clock = createManualClock(Date.parse(AT))
const SCHEDULES = 20

type Source = string | { directory: string }

/** Schedules that are due, in a schema of their own. */
async function fill(database: Source): Promise<string> {
  const schema = freshSchemaName()
  const { escapement } = await assemble({ database, schema, clock })
  escapement.job('noop', { handler: () => {} })
  const names = Array.from({ length: SCHEDULES }, (_, index) => `s-${index}`)
  await escapement.schedules.sync(
    Object.fromEntries(names.map((name) => [name, { job: 'noop', timing: every('1 minute') }])),
  )
  await escapement.close()
  return schema
}

const folders = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-crash-'))
afterAll(() => fs.rmSync(folders, { recursive: true }))
const original = path.join(folders, 'original')
let filled: Promise<string> | undefined

const databases: [string, (point: string) => Promise<{ database: Source; schema: string }>][] = [
  ['PostgreSQL', async () => ({ database: postgresUrl(), schema: await fill(postgresUrl()) })],
  [
    'PGlite',
    async (point) => {
      filled ??= fill({ directory: original })
      const schema = await filled
      const directory = path.join(folders, point)
      fs.cpSync(original, directory, { recursive: true })
      return { database: { directory }, schema }
    },
  ],
]

const points = ['before the insert', 'between insert and cursor', 'before the commit', 'after the commit']
/** How many schedules a tick takes, and how it records them then. */
const ways = [
  ['1000', 'record herds'],
  ['100', 'record due occurrences'],
]

describe.each(databases)('a scheduler killed on %s', (_, open) => {
  it.each(points.flatMap((point) => ways.map(([batch, purpose]) => [point, purpose!, batch!])))(
    '%s (%s) loses nothing and doubles nothing',
    async (point, purpose, batch) => {
      const { database, schema } = await open(`${point} ${batch}`)
      const source = typeof database === 'string' ? database : database.directory
      const killed = new FixtureProcess(fixture, [source, schema, AT, point!, batch!])
      expect(await killed.line('reached')).toMatchObject({ reached: point, purpose })
      await killed.kill()

      const { escapement, scheduler } = await assemble({ database, schema, clock })
      onTestFinished(async () => {
        await escapement.database.query(`drop schema "${schema}" cascade`)
        await escapement.close()
      })
      // A server may take a moment to notice that its client is gone, and to let go of what it had locked.
      await expect
        .poll(async () => {
          while ((await scheduler.tick()).due > 0);
          return escapement.database.query(
            `select count(*) as runs, count(distinct schedule_id) as schedules from "${schema}".runs`,
          )
        })
        .toEqual([{ runs: SCHEDULES, schedules: SCHEDULES }])
      expect(await escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
      expect((await escapement.schedules.get('s-0')).nextAt).toEqual(new Date('2026-03-01T12:01:00Z'))
    },
  )
})
