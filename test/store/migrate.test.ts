import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createEscapement } from '../../src/index.js'
import { migrate, statementsOf } from '../../src/store/migrate.js'
import { freshSchemaName, sharedDatabase } from '../support/database.js'

const database = await sharedDatabase()
let schema: string
const schemas: string[] = []

beforeEach(() => {
  schema = freshSchemaName()
  schemas.push(schema)
})
afterAll(async () => {
  for (const name of schemas) await database.query(`drop schema if exists "${name}" cascade`)
})

describe('migrate', () => {
  it('applies all once, in order, and then nothing', async () => {
    const first = await migrate(database, schema)
    expect(first.from).toBe(0)
    expect(first.migrations.map(({ number }) => number)).toEqual(
      first.migrations.map((_, index) => index + 1),
    )
    expect(await migrate(database, schema)).toEqual({ schema, from: first.to, to: first.to, migrations: [] })
  })

  it('applies once when many ask at the same time', async () => {
    await Promise.all(Array.from({ length: 8 }, () => migrate(database, schema)))
    const applied = await database.query(
      `select number, count(*) as times from "${schema}".migrations group by 1`,
    )
    expect(applied).toEqual(applied.map(({ number }) => ({ number, times: 1 })))
  })

  it('changes nothing with dryRun, and says what it would do', async () => {
    const { migrations } = await migrate(database, schema, { dryRun: true })
    expect(migrations[0]).toMatchObject({ number: 1, name: '0001_core' })
    expect(migrations[0]!.sql).toContain(`create table "${schema}".schedules`)
    expect(await database.query('select 1 from pg_namespace where nspname = $1', [schema])).toEqual([])
  })

  it('takes any name for the schema', async () => {
    const odd = `odd "quoted" it's $& ${schema} {schema}`
    schemas.push(odd.replaceAll('"', '""'))
    await migrate(database, odd)
    const escapement = await createEscapement({ database, schema: odd })
    expect(await escapement.schedules.list()).toEqual([])
  })

  it('finds schedules by their words that were there before', async () => {
    const plan = await migrate(database, schema, { dryRun: true })
    const before = { ...plan, migrations: plan.migrations.filter(({ number }) => number < 16) }
    await database.transaction(async (tx) => {
      await tx.script(statementsOf(before))
      await tx.script(`
        insert into "${schema}".schedules (id, name, version, job, input, queue, priority, "group", scopes, timing, policies, description,
          source, start_at, state, state_since, ledger_from, created_at, updated_at)
        select gen_random_uuid(), 'n' || n, 1, 'noop', 'null', 'default', 0, 'tenant', '{global}', '{}', '{}', 'The Number ' || n,
          'code', now(), 'active', now(), now(), now(), now()
        from generate_series(1, 3) as n;`)
    })
    await migrate(database, schema)
    const words = `select name, job, "group", source, words::text from "${schema}".schedule_words order by name`
    const labels = { job: 'noop', group: 'tenant', source: 'code' }
    expect(await database.query(words)).toEqual(
      [1, 2, 3].map((n) => ({
        name: `n${n}`,
        ...labels,
        words: `'${n}' 'n${n}' 'noop' 'number' 'tenant' 'the'`,
      })),
    )
  })

  it('carries runs of every state over into their parts', async () => {
    const plan = await migrate(database, schema, { dryRun: true })
    const before = { ...plan, migrations: plan.migrations.filter(({ number }) => number < 9) }
    const columns = `id, schedule_id, scope, plan_time, schedule_version, trigger, job, key, input, queue, priority, state,
      eligible_at, attempt, lease_expires_at, worker_id, progress, progress_note, totals, result, error_code, error_message,
      created_at, started_at, finished_at`
    const read = () => database.query(`select ${columns} from "${schema}".runs order by state`)
    await database.transaction(async (tx) => {
      await tx.script(statementsOf(before))
      await tx.script(`
        insert into "${schema}".runs (${columns}, lease_token, lane)
        select gen_random_uuid(), gen_random_uuid(), 'tenant', at, 7, 'scheduled', 'job', 'key ' || state, '{"a": [1]}', 'mail', 3,
          state, at, 2, case state when 'running' then at end, gen_random_uuid(), 0.5, 'half', '{"rows": 4}',
          case state when 'succeeded' then '{"ok": true}'::jsonb end, 'code', 'message', at, at,
          case when not is_open then at end, gen_random_uuid(), case when is_open then 0 end
        from unnest(array['pending', 'running', 'retrying', 'succeeded', 'failed', 'cancelled', 'skipped']) as state,
          lateral (select state in ('pending', 'running', 'retrying') as is_open) as o,
          cast('2026-03-01T00:00:00.123Z' as timestamptz) as at;
        insert into "${schema}".attempts (run_id, number, finished_at, code, message)
        select id, 1, created_at, 'handler_error', state from "${schema}".runs;`)
    })
    const runs = await read()
    expect(runs).toHaveLength(7)
    await migrate(database, schema)
    expect(await read()).toEqual(runs)
    const counts = await database.query(
      `select (select count(*) from "${schema}".runs_open) as open, (select count(*) from "${schema}".runs_ended) as ended,
         (select count(*) from "${schema}".attempts) as attempts`,
    )
    expect(counts).toEqual([{ open: 3, ended: 4, attempts: 7 }])
  })

  it('refuses a schema that a newer program has migrated', async () => {
    const { to } = await migrate(database, schema)
    await database.query(`insert into "${schema}".migrations (number, name) values ($1, 'later')`, [to + 1])
    await expect(createEscapement({ database, schema })).rejects.toMatchObject({
      code: 'schema_newer',
      message: `The schema "${schema}" was migrated to version ${to + 1} by a newer Escapement; this one knows version ${to}. Upgrade this program, or point it at another schema.`,
    })
  })

  it('refuses an outdated schema where migrating is switched off', async () => {
    await expect(createEscapement({ database, schema, migrate: false })).rejects.toMatchObject({
      code: 'schema_outdated',
      message: expect.stringContaining('Run: escapement migrate'),
    })
  })

  it('stores instants at the precision that the host can see', async () => {
    await migrate(database, schema)
    const finer = await database.query(
      `select table_name, column_name from information_schema.columns
       where table_schema = $1 and data_type = 'timestamp with time zone' and datetime_precision <> 3
         -- What rows of other tables are due by is as fine as they have it, and never leaves the database.
         and column_name <> 'due_at'`,
      [schema],
    )
    expect(finer).toEqual([])
  })
})
