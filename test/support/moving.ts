import { onTestFinished } from 'vitest'
import type { Escapement } from '../../src/index.js'
import { after, cron, every, once } from '../../src/index.js'
import { CARRIED_TABLES } from '../../src/store/carried-tables.js'
import type { Database } from '../../src/store/database.js'
import { openDatabase } from '../../src/store/open.js'
import { createHarness, type Harness } from '../../src/testing/harness.js'
import { freshSchemaName, postgresUrl, sharedDatabase, target } from './database.js'

const AT = '2026-03-01T12:00:00Z'

export type Place = Harness & { schema: string }

let server: Promise<Database> | undefined

/** Where things are moved to: always a server, so that on PGlite they go from one kind to the other. */
function otherDatabase(): Promise<Database> {
  if (target === 'postgres') return sharedDatabase()
  server ??= openDatabase(postgresUrl()).then(({ outer }) => outer)
  return server
}

/** It goes with the test, or for several tests with what `onEnd` hears. */
export async function openPlace(
  where: 'here' | 'there' = 'here',
  onEnd: (end: () => Promise<void>) => void = onTestFinished,
): Promise<Place> {
  const schema = freshSchemaName()
  const database = await (where === 'here' ? sharedDatabase() : otherDatabase())
  const harness = await createHarness({ database, schema, at: AT })
  onEnd(async () => {
    await database.query(`drop schema if exists "${schema}" cascade`)
    await harness.close()
  })
  return { ...harness, schema }
}

/** Something of everything: all kinds of timings, runs in all states, and values that are easily changed on the way. */
export async function fill(h: Place): Promise<void> {
  const { escapement, schedules, runs, schema } = h
  let isFailing = true
  h.job('work', { handler: () => ({ precise: 0.1 }) })
  h.job('fail', {
    retry: { attempts: 2, backoff: ['1 hour'] },
    handler: ({ totals }) => {
      totals({ errors: 1 })
      if (isFailing) throw new Error('on purpose\u2028"')
    },
  })
  const odd = { text: 'a\nb\u2028\u{1f600}"\\', numbers: [1e300, 0.1, -0], '10': 1, '9': 2, empty: {} }
  await schedules.put('every', { job: 'work', timing: every('1 minute'), input: odd, scopes: ['eu', 'us'] })
  await schedules.put('cron', {
    job: 'work',
    timing: cron('0 9 * * *', { zone: 'Europe/Paris' }),
    group: 'a',
  })
  await schedules.put('after', { job: 'work', timing: after('2 minutes') })
  await schedules.put('once', { job: 'work', timing: once('2026-03-01T12:03:00Z') })
  await schedules.put('failing', { job: 'fail', timing: every('3 minutes'), breaker: { failures: 5 } })
  await schedules.put('paused', { job: 'work', timing: every('1 minute'), metadata: { owner: 'ops' } })
  await schedules.put('gone', { job: 'work', timing: every('1 minute') })
  await h.advance('2 minutes')
  await schedules.pause('paused', { reason: 'maintenance', actor: 'ann' })
  await schedules.skip('every', '2026-03-01T12:04:00Z')
  await schedules.skip('every', '2026-03-02T00:00:00Z')
  await schedules.delete('gone')
  await h.advance('4 minutes')
  h.jump('30 minutes')
  await h.advance('1 minute')
  isFailing = false
  await runs.enqueue('work', odd, { key: 'once', at: '2030-01-01T00:00:00Z' })
  const cancelled = await runs.enqueue('work', null, { at: '2030-01-01T00:00:00Z' })
  await runs.cancel(cancelled.id)
  await runs.enqueueMany('work', [{ input: odd }, { input: null }])
  const { id } = await escapement.tokens.create({ name: 'alice', role: 'admin' })
  await escapement.tokens.openSession(id)
  await escapement.claiming.pause({ reason: 'deploy', actor: 'bob' })
  await escapement.database.query(
    `insert into "${schema}".transition_fields (table_schema, table_name, field) values ('public', 'posts', 'publish_at')`,
  )
  await escapement.database.query(
    `insert into "${schema}".transition_log (field_id, key, due_at, applied_at, action, to_value)
     values (1, '["1","ü"]', '2026-01-01T00:00:00.123456Z', '2026-01-01T00:00:00.124Z', 'set', 'published')`,
  )
  await escapement.database.query(
    `insert into "${schema}".run_minutes values ('2026-03-01T12:00:00Z', 3, 1, 0, 0, 4, '{1,0,2,1}', 3)`,
  )
  // More digits than a number of the host has.
  await escapement.database.query(
    `update "${schema}".schedules set metadata = '{"wide": 12345678901234567890.10}' where name = 'cron'`,
  )
}

/** Every row that is carried, as the database writes it. */
export async function contentsOf({ escapement, schema }: Pick<Place, 'escapement' | 'schema'>) {
  const contents: Record<string, string[]> = {}
  for (const table of CARRIED_TABLES.filter((name) => name !== 'exports')) {
    const rows = await escapement.database.transaction(async (tx) => {
      await tx.script(`set local time zone 'UTC'`)
      return tx.query<{ row: string }>(
        `select row_to_json(t)::text as row from "${schema}".${table} as t
         ${table === 'tokens' ? 'where parent_id is null' : ''}`,
      )
    })
    contents[table] = rows.map(({ row }) => row).sort()
  }
  return contents
}

export async function linesOf(lines: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = []
  for await (const line of lines) all.push(line)
  return all
}

export const isClean = async ({ audit }: Escapement) => {
  const { missing, double, unexpected } = await audit()
  return missing.length + double.length + unexpected.length === 0
}
