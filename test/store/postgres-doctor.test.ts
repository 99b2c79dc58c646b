import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { measureNotification, notificationDiagnoses } from '../../src/client/examining/session.js'
import { databaseClock } from '../../src/clock.js'
import { createEscapement, type Escapement } from '../../src/index.js'
import type { Connections, Database } from '../../src/store/database.js'
import { migrate } from '../../src/store/migrate.js'
import { openDatabase } from '../../src/store/open.js'
import { listBloated } from '../../src/store/queries/table-symptoms.js'
import { createStore } from '../../src/store/store.js'
import { createPostgresDatabase } from '../support/database.js'
import { movableClock } from '../support/movable-clock.js'
import { openNotificationProxy } from '../support/notification-proxy.js'
import { startPooler } from '../support/pooler.js'

const schema = 'escapement'
/** A database of its own: transactions of other tests would keep dead rows from being removed. */
let url: string
let connections: Connections
const query = (text: string) => connections.outer.query(text.replaceAll('{schema}', schema))

beforeAll(async () => {
  const own = await createPostgresDatabase()
  url = own.url
  connections = await openDatabase(url)
  await migrate(connections.outer, schema)
  return async () => {
    await connections.inner.close()
    await connections.outer.close()
    await own.drop()
  }
})

async function open(database: string): Promise<Escapement> {
  const escapement = await createEscapement({ database, schema, migrate: false })
  onTestFinished(() => escapement.close())
  return escapement
}

async function leaveDeadRows(database: Database): Promise<void> {
  await database.session(async (session) => {
    const run = (text: string) => session.query(text.replaceAll('{schema}', schema))
    await run('alter table {schema}.skips set (autovacuum_enabled = off)')
    await run(
      `insert into {schema}.skips (schedule_id, scope, schedule_version, first_plan_time, last_plan_time, reason, decided_at)
       select gen_random_uuid(), '', 1, now(), now(), 'missed', now() from generate_series(1, 20001)`,
    )
    await run('delete from {schema}.skips')
    // Counters reach the statistics when they are flushed, at the end of the next transaction.
    await run('select pg_stat_force_next_flush()')
    await run('select 1')
  })
}

/** A connection through which notifications come as `onNotification` has it. */
async function openThrough(onNotification: (deliver: () => void) => void): Promise<Connections> {
  const proxy = await openNotificationProxy(url, onNotification)
  const through = await openDatabase(proxy.url)
  onTestFinished(async () => {
    await through.inner.close()
    await through.outer.close()
    await proxy.close()
  })
  return through
}

describe('doctor, of a server', () => {
  it('finds dead rows where vacuum is switched off, or held up, and nothing once they are gone', async () => {
    const { doctor, database } = await open(url)
    const store = createStore(database, schema, databaseClock)
    const vacuum = `vacuum (analyze) "${schema}"."skips";`
    // From before they die: what vacuum there is cannot remove them meanwhile.
    await database.transaction(async (holder) => {
      await holder.script('set transaction isolation level repeatable read')
      const [{ pid }] = (await holder.query('select pg_backend_pid() as pid')) as [{ pid: number }]
      await leaveDeadRows(database)
      expect(await doctor()).toEqual([
        {
          kind: 'bloat',
          severity: 'problem',
          subject: `${schema}.skips`,
          detail: expect.stringMatching(
            /^20,001 dead rows beside 0 living ones in [\d.]+ MB; autovacuum is switched off for this table$/,
          ),
          fix: 'switch it on again',
          command: `alter table "${schema}"."skips" reset (autovacuum_enabled); ${vacuum}`,
        },
      ])
      await query('alter table {schema}.skips reset (autovacuum_enabled)')
      expect(await doctor()).toEqual([])
      expect(await listBloated(store, store, 0)).toMatchObject([
        { table: 'skips', off: null, holder: { pid, application: 'escapement' } },
      ])
    })
    await query(vacuum)
    expect(await listBloated(store, store, 0)).toEqual([])
  })

  it('takes no vacuum for what keeps dead rows, however long it takes', async () => {
    const { database } = await open(url)
    const store = createStore(database, schema, databaseClock)
    await query('create table slow as select from generate_series(1, 50000)')
    const underWay = () =>
      database.query<{ pid: number }>(
        'select pid from pg_stat_progress_vacuum where datname = current_database()',
      )
    const vacuum = database.session(async (session) => {
      await session.query(`select set_config('vacuum_cost_delay', '100', false)`)
      await session.query(`select set_config('vacuum_cost_limit', '1', false)`)
      await session.query('vacuum slow')
    })
    const ended = expect(vacuum).rejects.toThrow('terminating connection')
    await expect.poll(underWay).toHaveLength(1)
    await leaveDeadRows(database)
    await query('alter table {schema}.skips reset (autovacuum_enabled)')
    const [{ pid }] = (await underWay()) as [{ pid: number }]
    const found = await listBloated(store, store, 0)
    // With its settings.
    await query(`select pg_terminate_backend(${pid})`)
    await ended
    await query('vacuum {schema}.skips')
    await query('drop table slow')
    expect(found).toMatchObject([{ table: 'skips', off: null, holder: null }])
  })

  it('finds a server that can only be read, and changes nothing there', async () => {
    const readOnly = new URL(url)
    readOnly.searchParams.set('options', '-c default_transaction_read_only=on')
    const { doctor } = await open(readOnly.href)
    expect(await doctor()).toMatchObject([{ kind: 'read_only', detail: 'allows this user to read only' }])
  })

  it('notes a transaction pooler, and waits for no notification there', async () => {
    // Which refuses further parameters at the start, as PgBouncer does.
    const direct = new URL(url)
    direct.searchParams.delete('options')
    const pooler = await startPooler(direct.href, { mode: 'transaction', sessions: 2 })
    const escapement = await createEscapement({ database: pooler.url, schema, migrate: false })
    onTestFinished(async () => {
      await escapement.close()
      await pooler.close()
    })
    expect(await escapement.examine()).toMatchObject({
      findings: [{ kind: 'pooler', severity: 'note', detail: expect.stringContaining('transaction pooler') }],
      notificationMs: null,
    })
  })

  it('finds notifications that come late', async () => {
    const move = movableClock()
    const { inner } = await openThrough((deliver) => {
      move(1_500)
      deliver()
    })
    const { examine } = await createEscapement({ database: inner, schema, migrate: false })
    const { findings, notificationMs } = await examine()
    expect(notificationMs).toBeGreaterThanOrEqual(1_500)
    expect(findings).toMatchObject([
      {
        kind: 'notification_latency',
        severity: 'problem',
        detail: expect.stringMatching(/^took 1\.\d s to reach this process: /),
        command: 'select pg_notification_queue_usage();',
      },
    ])
  })

  it('finds notifications that never come', async () => {
    const { inner } = await openThrough(() => {})
    expect(await measureNotification(createStore(inner, schema, databaseClock), 100)).toBe(null)
    expect(notificationDiagnoses(null)).toMatchObject([
      { kind: 'notification_latency', detail: expect.stringMatching(/^do not reach this process: /) },
    ])
  })
})
