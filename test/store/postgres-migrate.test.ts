import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { migrate, statementsOf } from '../../src/store/migrate.js'
import { freshSchemaName, postgresUrl, sharedDatabase } from '../support/database.js'

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: postgresUrl() })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

it('a migration waits for who has its tables open, holds up nobody else meanwhile, and tells who that was', async () => {
  const database = await sharedDatabase()
  const schema = freshSchemaName()
  onTestFinished(async () => {
    await database.query(`drop schema "${schema}" cascade`)
  })
  const plan = await migrate(database, schema, { dryRun: true })
  const before = { ...plan, migrations: plan.migrations.filter(({ number }) => number < 21) }
  await database.transaction((tx) => tx.script(statementsOf(before)))
  const runs = `"${schema}".runs_open`

  const reader = await connect()
  const { rows } = await reader.query('select pg_backend_pid() as pid')
  await reader.query(`begin; select count(*) from ${runs}`)
  await expect(migrate(database, schema, { patienceMs: 0 })).rejects.toMatchObject({
    code: 'database_unusable',
    message: expect.stringMatching(
      `could not be migrated: others have its tables open \\(process ${rows[0].pid} .*since 20`,
    ),
  })

  const migrating = migrate(database, schema)
  const other = await connect()
  // Longer than a try holds others up, and shorter than for good.
  await other.query(`set lock_timeout = '5s'`)
  for (let n = 0; n < 30; n++) {
    await other.query(`update ${runs} set queue = queue where false`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await reader.query('commit')
  expect((await migrating).to).toBe(plan.to)
}, 60_000)
