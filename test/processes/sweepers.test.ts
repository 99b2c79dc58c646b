import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { createEscapement } from '../../src/index.js'
import { FixtureProcess } from '../support/child-process.js'
import { createPostgresDatabase, freshSchemaName } from '../support/database.js'

const fixture = fileURLToPath(new URL('fixtures/sweeper.ts', import.meta.url))
const ROWS = 50_000
const PROCESSES = 4

it('four processes that sweep 50,000 due rows at once change each row once, and call each hook once per row', async () => {
  const schema = freshSchemaName()
  const { url: database, drop } = await createPostgresDatabase()
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-sweepers-'))
  const escapement = await createEscapement({ database, schema })
  const query = (text: string) => escapement.database.query(text.replaceAll('{schema}', `"${schema}"`))
  await query(
    'create table {schema}.posts (id integer primary key, status text, publish_at timestamptz, changes integer default 0)',
  )
  await query('create table {schema}.outbox (post integer)')
  await query(
    `create function {schema}.count() returns trigger language plpgsql as $$ begin new.changes := old.changes + 1; return new; end $$`,
  )
  await query(
    'create trigger count before update on {schema}.posts for each row execute function {schema}.count()',
  )
  await query(
    `insert into {schema}.posts select n, 'draft', now() - (n % 977) * interval '1 second' from generate_series(1, ${ROWS}) as n`,
  )
  const files = Array.from({ length: PROCESSES }, (_, index) => path.join(folder, String(index)))
  const processes = files.map((file) => new FixtureProcess(fixture, [database, schema, file]))
  onTestFinished(async () => {
    await Promise.all(processes.map((process) => process.kill()))
    await escapement.close()
    await drop()
    fs.rmSync(folder, { recursive: true })
  })
  await Promise.all(processes.map((process) => process.line('ready')))
  for (const process of processes) process.signal('SIGUSR2')
  const ends = await Promise.all(processes.map((process) => process.line('done')))
  await Promise.all(processes.map((process) => process.exitCode()))

  expect(ends.flatMap(({ errors }) => errors)).toEqual([])
  expect(ends.reduce((sum, { done }) => sum + Number(done), 0)).toBe(ROWS)
  expect(ends.filter(({ done }) => Number(done) > 0).length).toBeGreaterThan(1)
  const told = files.flatMap((file) => fs.readFileSync(file, 'utf8').split('\n').filter(Boolean))
  expect(told).toHaveLength(ROWS)
  expect(new Set(told).size).toBe(ROWS)
  expect(
    await query(
      `select count(*) filter (where status = 'published' and changes = 1) as changed_once,
         (select count(*) from {schema}.transition_log) as logged,
         (select count(distinct post) from {schema}.outbox) as in_outbox, (select count(*) from {schema}.outbox) as outbox
       from {schema}.posts`,
    ),
  ).toEqual([{ changed_once: ROWS, logged: ROWS, in_outbox: ROWS, outbox: ROWS }])
})
