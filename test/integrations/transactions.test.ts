import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import knex from 'knex'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fromDrizzle } from '../../src/adapters/drizzle.js'
import { fromKnex } from '../../src/adapters/knex.js'
import { fromKysely } from '../../src/adapters/kysely.js'
import { fromPrisma } from '../../src/adapters/prisma.js'
import { createEscapement, type Escapement, type TransactionLike } from '../../src/index.js'
import { freshSchemaName, postgresUrl } from '../support/database.js'
import { openPrisma } from './prisma-client.js'

const url = postgresUrl()
/** With all that a library might take for a placeholder of its own. */
const schema = `${freshSchemaName()} ? :name $1 "it's"`
const quoted = `"${schema.replaceAll('"', '""')}"`
let escapement: Escapement

beforeAll(async () => {
  escapement = await createEscapement({ database: url, schema })
  escapement.job('invoice', { handler: () => {} })
  await escapement.database.query(`create table ${quoted}.orders (id integer primary key)`)
})
afterAll(async () => {
  await escapement.database.query(`drop schema ${quoted} cascade`)
  await escapement.close()
})

/** A library's way to run a statement and an enqueue in one transaction. */
interface Library {
  transaction<T>(
    work: (tx: TransactionLike, insertOrder: (id: number) => PromiseLike<unknown>) => Promise<T>,
  ): Promise<T>
  close(): Promise<unknown>
}

const insertInto = (id: number) => `insert into ${quoted}.orders (id) values (${id})`

const LIBRARIES: Record<string, () => Library> = {
  pg() {
    const pool = new pg.Pool({ connectionString: url })
    return {
      async transaction(work) {
        const client = await pool.connect()
        try {
          await client.query('begin')
          const result = await work(client, (id) => client.query(insertInto(id)))
          await client.query('commit')
          return result
        } catch (error) {
          await client.query('rollback')
          throw error
        } finally {
          client.release()
        }
      },
      close: () => pool.end(),
    }
  },
  'escapement.database': () => ({
    transaction: (work) =>
      escapement.database.transaction((tx) => work(tx, (id) => tx.query(insertInto(id)))),
    close: async () => {},
  }),
  drizzle() {
    const pool = new pg.Pool({ connectionString: url })
    const db = drizzle(pool)
    return {
      transaction: (work) =>
        db.transaction((tx) => work(fromDrizzle(tx, sql), (id) => tx.execute(sql.raw(insertInto(id))))),
      close: () => pool.end(),
    }
  },
  kysely() {
    interface Tables {
      orders: { id: number }
    }
    const db = new Kysely<Tables>({
      dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }),
    })
    return {
      transaction: (work) =>
        db
          .transaction()
          .execute((trx) =>
            work(fromKysely(trx), (id) =>
              trx.withSchema(schema).insertInto('orders').values({ id }).execute(),
            ),
          ),
      close: () => db.destroy(),
    }
  },
  prisma() {
    const prisma = openPrisma(url)
    return {
      transaction: (work) =>
        prisma.$transaction((tx: typeof prisma) =>
          work(fromPrisma(tx), (id) => tx.$executeRawUnsafe(insertInto(id))),
        ),
      close: () => prisma.$disconnect(),
    }
  },
  knex() {
    const db = knex({ client: 'pg', connection: url })
    return {
      transaction: (work) =>
        db.transaction((trx) => work(fromKnex(trx), (id) => trx.raw(insertInto(id).replaceAll('?', '\\?')))),
      close: () => db.destroy(),
    }
  },
}

const runOf = (id: string) => escapement.runs.get(id).catch(({ code }) => code)
const ordersOf = (id: number) =>
  escapement.database.query(`select id from ${quoted}.orders where id = $1`, [id])

describe.each(Object.keys(LIBRARIES))('in a transaction of %s', (name) => {
  let library: Library
  const order = 10 * Object.keys(LIBRARIES).indexOf(name)

  beforeAll(() => {
    library = LIBRARIES[name]!()
  })
  afterAll(() => library.close())

  it('a run appears when it commits, with all that was said of it', async () => {
    const input = { order, text: `it's a "?" :name $1 \\ ??`, none: null }
    const { id } = await library.transaction(async (tx, insertOrder) => {
      await insertOrder(order)
      const enqueued = await escapement.runs.enqueue('invoice', input, {
        tx,
        at: '2031-01-01T00:00:00Z',
        queue: 'slow',
        priority: -3,
        key: `${name}:full`,
      })
      expect(await runOf(enqueued.id)).toBe('run_not_found')
      return enqueued
    })
    expect(await runOf(id)).toMatchObject({
      job: 'invoice',
      input,
      trigger: 'direct',
      state: 'pending',
      queue: 'slow',
      priority: -3,
      key: `${name}:full`,
      eligibleAt: new Date('2031-01-01T00:00:00Z'),
    })
    expect(await ordersOf(order)).toHaveLength(1)
  })

  it('no run appears when it rolls back', async () => {
    let id = ''
    const failed = library.transaction(async (tx, insertOrder) => {
      await insertOrder(order + 1)
      id = (await escapement.runs.enqueue('invoice', order, { tx })).id
      throw new Error('the order is refused')
    })
    await expect(failed).rejects.toThrow('the order is refused')
    expect(await runOf(id)).toBe('run_not_found')
    expect(await ordersOf(order + 1)).toHaveLength(0)
  })

  it('the input for a job whose code is elsewhere is checked by what was published of it', async () => {
    const job = `elsewhere-${name}`
    await escapement.database.query(
      `insert into ${quoted}.jobs (name, policies, published_at) values ($1, $2::jsonb, now())`,
      [job, JSON.stringify({ inputSchema: { type: 'string' } })],
    )
    const enqueue = (input: unknown) =>
      library.transaction((tx) => escapement.runs.enqueue<unknown>(job, input, { tx }))
    await expect(enqueue(5)).rejects.toMatchObject({
      code: 'input_invalid',
      message: 'input: must be string',
    })
    expect(await enqueue('text')).toMatchObject({ created: true })
  })

  it('the same key twice is one run, within a transaction and in the next', async () => {
    const key = `${name}:once`
    const answers = await library.transaction(async (tx) => [
      await escapement.runs.enqueue('invoice', 1, { tx, key }),
      await escapement.runs.enqueue('invoice', 2, { tx, key }),
    ])
    answers.push(await library.transaction((tx) => escapement.runs.enqueue('invoice', 3, { tx, key })))
    expect(answers.map(({ created }) => created)).toEqual([true, false, false])
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    expect(await runOf(answers[0]!.id)).toMatchObject({ input: 1 })
  })

  it('many at once are written, in as many statements as they need', async () => {
    const items = Array.from({ length: 6_000 }, (_, input) => ({ input, key: `${name}:${input}` }))
    const enqueued = await library.transaction((tx) => escapement.runs.enqueueMany('invoice', items, { tx }))
    expect(enqueued.filter(({ created }) => created)).toHaveLength(6_000)
    expect(await runOf(enqueued[5_999]!.id)).toMatchObject({ input: 5_999 })
  })

  it('is woken for: the workers hear of it once it commits', async () => {
    const payloads: string[] = []
    const stop = await escapement.database.listen(`escapement:${schema}`, (payload) => payloads.push(payload))
    await library.transaction((tx) =>
      escapement.runs.enqueueMany('invoice', [{ input: 1 }, { input: 2 }], { tx }),
    )
    await expect.poll(() => payloads).toEqual(['runs'])
    await stop()
  })
})

it('names the adapter where the transaction of another library is given as it is', async () => {
  const prisma = openPrisma(url)
  const db = knex({ client: 'pg', connection: url })
  const pool = new pg.Pool({ connectionString: url })
  const kysely = new Kysely<object>({ dialect: new PostgresDialect({ pool }) })
  const given = [prisma, db, kysely, drizzle(pool), pool, escapement.database, {}]
  const answers = await Promise.all(
    given.map((tx) =>
      escapement.runs.enqueue('invoice', 1, { tx: tx as TransactionLike }).catch(({ message }) => message),
    ),
  )
  expect(answers).toEqual([
    "tx: is of another library; give fromPrisma(tx) from 'escapement/prisma'",
    "tx: is of another library; give fromKnex(tx) from 'escapement/knex'",
    "tx: is of another library; give fromKysely(tx) from 'escapement/kysely'",
    "tx: is of another library; give fromDrizzle(tx, sql) from 'escapement/drizzle'",
    'tx: is a pool; give the client on which the transaction was begun',
    'tx: is a database; give what its transaction() hands over',
    'tx: {} – expected a pg client, or the tx of escapement.database.transaction',
  ])
  await prisma.$disconnect()
  await db.destroy()
  await kysely.destroy()
})
