import { describe, expect, it, onTestFinished } from 'vitest'
import { databaseClock } from '../../src/clock.js'
import { directRunIdOf } from '../../src/runs/run-id.js'
import { migrate } from '../../src/store/migrate.js'
import { createStore } from '../../src/store/store.js'
import { freshSchemaName, sharedDatabase } from '../support/database.js'
import { openHarness } from '../support/harness.js'

const AT = '2026-03-01T12:00:00Z'

async function open(options = {}) {
  const h = await openHarness({ at: AT, ...options })
  const { database } = h.escapement
  const call = async (args: string, params: (string | null)[] = []) => {
    const [row] = await database.query<{ id: string }>(`select "${h.schema}".enqueue(${args}) as id`, params)
    return row!.id
  }
  return { h, database, call }
}

describe('the SQL function enqueue', () => {
  it('asks for a run that a worker takes up', async () => {
    const { h, call } = await open({ at: '2100-01-01T00:00:00Z' })
    const done: unknown[] = []
    h.job('mail', { handler: ({ input }) => void done.push(input) })
    const id = await call(`'mail', '{"to": "acme"}'`)
    expect(await h.runs.get(id)).toMatchObject({
      state: 'pending',
      trigger: 'direct',
      job: 'mail',
      input: { to: 'acme' },
      queue: 'default',
      priority: 0,
      key: null,
      scheduleId: null,
    })
    await h.advance('0s')
    expect(done).toEqual([{ to: 'acme' }])
  })

  it('takes all that the library takes, by name', async () => {
    const { h, call } = await open()
    const id = await call(`job => 'mail', queue => 'slow', priority => -7, eligible_at => $1, key => 'k'`, [
      '2031-01-01T02:00:00+02:00',
    ])
    expect(await h.runs.get(id)).toMatchObject({
      input: null,
      queue: 'slow',
      priority: -7,
      key: 'k',
      eligibleAt: new Date('2031-01-01T00:00:00Z'),
    })
  })

  it('called from a trigger belongs to the transaction of its statement', async () => {
    const { h, database } = await open()
    await database.transaction((tx) =>
      tx.script(`
        create table "${h.schema}".orders (id integer primary key);
        create function "${h.schema}".ask() returns trigger language plpgsql as $$
          begin
            perform "${h.schema}".enqueue('invoice', jsonb_build_object('order', new.id), key => 'order:' || new.id);
            return new;
          end $$;
        create trigger ask after insert or update on "${h.schema}".orders
          for each row execute function "${h.schema}".ask();`),
    )
    const insert = `insert into "${h.schema}".orders select generate_series(1, 3)`
    const inputs = () => database.query(`select input, key from "${h.schema}".runs order by key`)
    const failed = database.transaction(async (tx) => {
      await tx.query(insert)
      throw new Error('refused')
    })
    await expect(failed).rejects.toThrow('refused')
    expect(await inputs()).toEqual([])
    await database.query(insert)
    await database.query(`update "${h.schema}".orders set id = id`)
    expect(await inputs()).toEqual([1, 2, 3].map((order) => ({ input: { order }, key: `order:${order}` })))
  })

  it.each([
    ['send-report', 'order-4711'],
    ['a|b', 'c'],
    ['naïve 🕰', 'schlüssel ✓'],
    ['x', 'long '.repeat(1_000)],
  ])('gives the job %j the id that the library gives it', async (job, key) => {
    const { h, call } = await open()
    const id = await call('$1, key => $2', [job, key])
    expect(id).toBe(directRunIdOf(job, key))
    h.job(job, { handler: () => {} })
    expect(await h.runs.enqueue(job, 1, { key })).toEqual({ id, created: false })
    expect(await call('$1, key => $2', [job, key])).toBe(id)
  })

  it('gives each run without a key an id of its own', async () => {
    const { call } = await open()
    expect(await call(`'mail'`)).not.toBe(await call(`'mail'`))
  })

  it('takes null for what it would take by default, and refuses only a job that is null', async () => {
    const { h, call } = await open()
    const id = await call(`'mail', null, null, null, null, null`)
    expect(await h.runs.get(id)).toMatchObject({ input: null, queue: 'default', priority: 0 })
    await expect(call('null')).rejects.toMatchObject({ code: '23502' })
    await expect(call(`null, key => 'k'`)).rejects.toMatchObject({ code: '23502' })
  })

  it.each([
    ['2031-01-01T00:00:00.000Z', '2031-01-01T00:00:00.000Z'],
    ['2031-01-01T00:00:00.0004Z', '2031-01-01T00:00:00.001Z'],
    ['infinity', '9999-12-31T23:59:59.999Z'],
    ['-infinity', '1900-01-01T00:00:00.000Z'],
  ])('is never early: %s becomes eligible at %s', async (at, expected) => {
    const { h, call } = await open()
    const id = await call(`'mail', eligible_at => $1`, [at])
    expect((await h.runs.get(id)).eligibleAt).toEqual(new Date(expected))
  })

  it('finds its own tables whatever the search path is', async () => {
    const { h, database } = await open()
    const trap = freshSchemaName()
    await database.query(`create schema "${trap}"`)
    const id = await database.transaction(async (tx) => {
      await tx.script(`
        create table "${trap}".runs_asked (id uuid);
        create function "${trap}".sha256(bytea) returns bytea language sql as $$ select null::bytea $$;
        set local search_path = "${trap}", pg_catalog;`)
      const [row] = await tx.query<{ id: string }>(`select "${h.schema}".enqueue('mail', key => 'k') as id`)
      return row!.id
    })
    expect(id).toBe(directRunIdOf('mail', 'k'))
    expect(await h.runs.get(id)).toMatchObject({ job: 'mail' })
    await database.query(`drop schema "${trap}" cascade`)
  })

  it.each(['', 'x'.repeat(40)])(
    'wakes the workers once for each new run (schema test_…%s)',
    async (suffix) => {
      const database = await sharedDatabase()
      const schema = `${freshSchemaName()}${suffix}`
      await migrate(database, schema)
      onTestFinished(async () => void (await database.query(`drop schema "${schema}" cascade`)))
      const { channel } = createStore(database, schema, databaseClock)
      const payloads: string[] = []
      const stop = await database.listen(channel, (payload) => payloads.push(payload))
      await database.query(`select "${schema}".enqueue('mail', key => 'k')`)
      await database.query(`select "${schema}".enqueue('mail', key => 'k')`)
      await database.query(`select pg_notify($1, 'last')`, [channel])
      await expect.poll(() => payloads.at(-1)).toBe('last')
      expect(payloads).toEqual(['runs', 'last'])
      await stop()
    },
  )
})
