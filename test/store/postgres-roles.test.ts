import fs from 'node:fs'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { createEscapement, cron, every } from '../../src/index.js'
import { createHarness } from '../../src/testing/harness.js'
import { postgresUrl } from '../support/database.js'
import { openHarness } from '../support/harness.js'

const guide = fs.readFileSync(new URL('../../docs/guide/production.md', import.meta.url), 'utf8')

/** Gives a role what the guide says that it needs, and a URL of one who has that and nothing more. */
async function grantAsGuided(name: string): Promise<{ schema: string; url: string }> {
  const h = await openHarness({ at: '2026-03-01T12:00:00Z' })
  const { database } = h.escapement
  const role = `${name}_${h.schema}`
  const [, statements] = new RegExp(`\`\`\`sql\\n(create role ${name} [\\s\\S]*?)\`\`\``).exec(guide)!
  onTestFinished(async () => {
    await database.query(`drop owned by ${role}`)
    await database.query(`drop role ${role}`)
  })
  const script = statements!.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), role)
  await database.transaction((tx) => tx.script(script.replaceAll(/\bescapement\b/g, h.schema)))
  const url = new URL(postgresUrl())
  url.searchParams.set('options', `-c role=${role}`)
  return { schema: h.schema, url: url.href }
}

it('the role that the guide gives to programs can do all that they do, and no more', async () => {
  const { schema, url } = await grantAsGuided('escapement_app')
  const h = await createHarness({ at: '2026-03-01T12:30:00Z', database: url, schema, migrate: false })
  onTestFinished(() => h.close())
  h.job('work', {
    retry: { attempts: 1 },
    handler: ({ input }) => {
      if (input === 'fail') throw new Error('no')
    },
  })
  await h.schedules.put('hourly', { job: 'work', timing: every('1 hour'), overlap: 'queue' })
  await h.schedules.put('failing', {
    job: 'work',
    input: 'fail',
    timing: every('1 hour'),
    breaker: { failures: 2 },
  })
  await h.schedules.put('daily', { job: 'work', timing: cron('0 9 * * *', { zone: 'Europe/Paris' }) })
  await h.advance('3 hours')
  expect(await h.planTimes('hourly')).toHaveLength(3)
  expect((await h.schedules.get('failing')).state).toBe('broken')
  await h.schedules.pause('hourly')
  await h.advance('2 hours')
  await h.schedules.resume('hourly')
  await h.schedules.backfill('hourly', { from: '2026-03-01T15:30:00Z', to: '2026-03-01T17:30:00Z' })
  await h.runs.enqueue('work', null, { key: 'once' })
  expect(await h.runs.retryAll({ job: 'work' })).toMatchObject({ retried: 2 })
  await h.advance('3 hours')
  expect(await h.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
  await h.schedules.delete('failing', { runs: 'delete' })
  await expect(h.escapement.database.query(`drop table "${schema}".runs_open`)).rejects.toThrow(
    /must be owner/,
  )
})

it('the role that the guide gives to programs can run all loops', async () => {
  const { schema, url } = await grantAsGuided('escapement_app')
  const escapement = await createEscapement({ database: url, schema, migrate: false })
  onTestFinished(() => escapement.close())
  const work = escapement.job('work', { handler: () => {} })
  const ended = new Promise<string>((resolve) =>
    escapement.on('run.succeeded', ({ runId }) => resolve(runId)),
  )
  await escapement.start()
  const { id } = await escapement.runs.enqueue(work, null)
  expect(await ended).toBe(id)
  expect(await escapement.workers()).toHaveLength(1)
  await escapement.stop()
})

it('the role that the guide gives to those who only ask for runs can do that, and no more', async () => {
  const { schema, url } = await grantAsGuided('shop')
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  const ask = `select "${schema}".enqueue('work', '{}', key => 'order:1') as id`
  const first = await client.query(ask)
  expect((await client.query(ask)).rows).toEqual(first.rows)
  await expect(client.query(`delete from "${schema}".runs_asked`)).rejects.toThrow(/permission denied/)
  await expect(client.query(`select * from "${schema}".tokens`)).rejects.toThrow(/permission denied/)
})
