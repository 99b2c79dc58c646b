import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database, Param, Transaction } from '../../src/store/database.js'
import { freshSchemaName, openTestDatabase, target } from '../support/database.js'

let database: Database
const schema = freshSchemaName()

beforeAll(async () => {
  database = await openTestDatabase()
  await database.query(`create schema ${schema}`)
  await database.query(`create table ${schema}.notes (id int primary key, body text not null)`)
})

afterAll(async () => {
  await database.query(`drop schema ${schema} cascade`)
  await database.close()
})

async function one(text: string, params?: Param[]): Promise<unknown> {
  const rows = await database.query<{ value: unknown }>(text, params)
  expect(rows).toHaveLength(1)
  return rows[0]!.value
}

async function failure(work: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  return await work.then(
    () => expect.fail('expected a rejection'),
    (error) => error,
  )
}

async function noteIds(): Promise<number[]> {
  const rows = await database.query<{ id: number }>(`select id from ${schema}.notes order by id`)
  return rows.map(({ id }) => id)
}

describe(`database port on ${target}`, () => {
  it('has sessions of its own, which can listen', () => {
    expect([database.mode, database.canListen]).toEqual(['direct', true])
  })

  it('shows the session in a zone that is not UTC', async () => {
    expect(await one(`select current_setting('TimeZone') as value`)).not.toMatch(/^(UTC|GMT|Etc)/)
  })

  describe('parameters', () => {
    const instant = new Date('2024-03-31T01:30:00.123Z')
    const awkward = [
      '',
      ' ',
      'NULL',
      'null',
      'a,b',
      '{x}',
      '"q"',
      "it's",
      'back\\slash',
      '\\',
      '\\"',
      'ünï ☂ 🕰',
      'a\nb',
    ]

    it.each([
      ['null', '$1::text', null, null],
      ['true', '$1::boolean', true, true],
      ['false', '$1::boolean', false, false],
      ['an integer', '$1::int', -7, -7],
      ['a bigint', '$1::bigint', Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
      ['a double', '$1::float8', 0.1, 0.1],
      ['an infinite double', '$1::float8', Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
      ['a numeric', '$1::numeric', '12345678901234567890.12', '12345678901234567890.12'],
      ['a text', '$1::text', `it's "\\" ☂`, `it's "\\" ☂`],
      ['a uuid', '$1::uuid', '0190b3a4-0000-7000-8000-000000000001', '0190b3a4-0000-7000-8000-000000000001'],
      ['a date', '$1::timestamptz', instant, instant],
      ['a date before the epoch', '$1::timestamptz', new Date(-1), new Date(-1)],
      ['an ISO text as timestamptz', '$1::timestamptz', instant.toISOString(), instant],
      ['JSON as text', '$1::jsonb', '{"a":[1,"\\"",null]}', { a: [1, '"', null] }],
      ['a JSON null', '$1::jsonb', 'null', null],
      ['an array of texts', '$1::text[]', awkward, awkward],
      ['an array of texts with nulls', '$1::text[]', [null, 'a', null], [null, 'a', null]],
      ['an empty array', '$1::text[]', [], []],
      ['an array of integers', '$1::int[]', [1, null, -3], [1, null, -3]],
      [
        'an array of bigints',
        '$1::bigint[]',
        [Number.MIN_SAFE_INTEGER, null],
        [Number.MIN_SAFE_INTEGER, null],
      ],
      ['an array of booleans', '$1::boolean[]', [true, null, false], [true, null, false]],
      ['an array of instants', '$1::timestamptz[]', [instant, null], [instant, null]],
      [
        'an array of uuids',
        '$1::uuid[]',
        ['0190b3a4-0000-7000-8000-000000000001', null],
        ['0190b3a4-0000-7000-8000-000000000001', null],
      ],
      ['an array of numerics', '$1::numeric[]', ['1.50', null], ['1.50', null]],
      [
        'an array of JSON from texts',
        '$1::text[]::jsonb[]',
        ['{"a":"x,y"}', '"q\\"\\\\"', '[1,{}]', null],
        [{ a: 'x,y' }, 'q"\\', [1, {}], null],
      ],
    ] satisfies [string, string, Param, unknown][])(
      '%s travels and returns',
      async (_, expression, param, expected) => {
        expect(await one(`select ${expression} as value`, [param])).toEqual(expected)
      },
    )

    it('arrays unnest side by side', async () => {
      const rows = await database.query(
        `select * from unnest($1::int[], $2::text[], $3::timestamptz[]) as t (id, body, at)`,
        [
          [1, 2],
          ['a', null],
          [instant, instant],
        ],
      )
      expect(rows).toEqual([
        { id: 1, body: 'a', at: instant },
        { id: 2, body: null, at: instant },
      ])
    })

    it('a parameter is never read as SQL', async () => {
      const text = `'); drop table ${schema}.notes; --`
      expect(await one('select $1::text as value', [text])).toBe(text)
    })
  })

  describe('rows', () => {
    it('count is a number', async () => {
      expect(await one('select count(*) as value from generate_series(1, 3)')).toBe(3)
    })

    it.each(['9007199254740992', '-9007199254740993', '9223372036854775807'])(
      'the bigint %s is an error, not a rounded number',
      async (text) => {
        expect((await failure(database.query(`select ${text}::bigint as value`))).message).toContain(text)
        expect((await failure(database.query(`select array[${text}]::bigint[] as value`))).message).toContain(
          text,
        )
        expect(await one('select 1 as value')).toBe(1)
      },
    )

    it.each(['UTC', 'America/St_Johns', 'Asia/Kathmandu', 'Europe/Paris'])(
      'an instant is the same in a session in %s',
      async (zone) => {
        await database.transaction(async (tx) => {
          await tx.script(`set local time zone '${zone}'`)
          const instants = [
            '2024-07-01T12:34:56.789Z',
            '1800-01-01T00:00:00.000Z',
            '0099-12-31T23:59:59.999Z',
          ]
          const rows = await tx.query<{ at: Date }>(`select unnest($1::timestamptz[]) as at`, [instants])
          expect(rows.map(({ at }) => at.toISOString())).toEqual(instants)
        })
      },
    )

    it('a date and a timestamp without a zone stay text', async () => {
      const [row] = await database.query(
        `select '2024-02-29'::date as day, '2024-02-29 01:02:03'::timestamp as wall`,
      )
      expect(row).toEqual({ day: '2024-02-29', wall: '2024-02-29 01:02:03' })
    })

    it('a statement without a result answers with no rows', async () => {
      expect(await database.query(`delete from ${schema}.notes where false`)).toEqual([])
    })

    it('returning answers with what was written', async () => {
      const text = `insert into ${schema}.notes values ($1, $2) returning id, body`
      expect(await database.query(text, [1, 'one'])).toEqual([{ id: 1, body: 'one' }])
      await database.query(`delete from ${schema}.notes`)
    })
  })

  describe('errors', () => {
    it('carry the SQLSTATE and what was violated', async () => {
      await database.query(`insert into ${schema}.notes values (1, 'one')`)
      const error = await failure(database.query(`insert into ${schema}.notes values (1, 'again')`))
      expect(error).toBeInstanceOf(Error)
      expect(error).toMatchObject({
        code: '23505',
        constraint: 'notes_pkey',
        table: 'notes',
        schema,
        severity: 'ERROR',
      })
      expect(error.message).toContain('duplicate key')
      expect(error.detail).toContain('already exists')
      await database.query(`delete from ${schema}.notes`)
    })

    it('name the column that must not be null', async () => {
      const error = await failure(database.query(`insert into ${schema}.notes values (1, null)`))
      expect(error).toMatchObject({ code: '23502', column: 'body' })
    })

    it('point at the position of a syntax error', async () => {
      expect(await failure(database.query('selec 1'))).toMatchObject({ code: '42601', position: '1' })
    })

    it('leave the database usable', async () => {
      await failure(database.query('select 1 / 0'))
      await failure(database.query('select $1::int', ['no number']))
      expect(await one('select 1 as value')).toBe(1)
    })

    it('lead to the caller in their stack', async () => {
      async function theCaller() {
        await database.query('select 1 / 0')
      }
      expect((await failure(theCaller())).stack).toContain('theCaller')
    })
  })

  describe('transaction', () => {
    it('commits what it wrote and answers with the value of its callback', async () => {
      const answer = await database.transaction(async (tx) => {
        await tx.query(`insert into ${schema}.notes values (1, 'one')`)
        return 'done'
      })
      expect(answer).toBe('done')
      expect(await noteIds()).toEqual([1])
      await database.query(`delete from ${schema}.notes`)
    })

    it('rolls back when its callback rejects, and rejects with the same error', async () => {
      const reason = new Error('no')
      const work = database.transaction(async (tx) => {
        await tx.query(`insert into ${schema}.notes values (1, 'one')`)
        throw reason
      })
      expect(await failure(work)).toBe(reason)
      expect(await noteIds()).toEqual([])
    })

    it('lets no statement stand outside of it, however many were under way when it failed', async () => {
      const insert = (tx: Transaction, id: number) =>
        tx.query(`insert into ${schema}.notes values ($1, 'escaped')`, [id])
      const failing = database.transaction((tx) =>
        Promise.all([tx.query('select 1 / 0'), insert(tx, 101), insert(tx, 102)]),
      )
      await failure(failing)
      const forgetful = database.transaction(async (tx) => {
        insert(tx, 103).catch(() => {})
        insert(tx, 104).catch(() => {})
        throw new Error('on purpose')
      })
      await failure(forgetful)
      await database.query('select 1')
      expect(await noteIds()).toEqual([])
    })

    it('rejects when a failed statement was swallowed and the commit became a rollback', async () => {
      const work = database.transaction(async (tx) => {
        await tx.query(`insert into ${schema}.notes values (1, 'one')`)
        await tx.query('select 1 / 0').catch(() => {})
        await tx.query('select 1').catch(() => {})
        return 'all is well'
      })
      expect(await failure(work)).toMatchObject({ code: '22012' })
      expect(await noteIds()).toEqual([])
    })

    it('commits when the failed statement was undone by a savepoint', async () => {
      await database.transaction(async (tx) => {
        await tx.query(`insert into ${schema}.notes values (1, 'one')`)
        await tx.script('savepoint before')
        await tx.query('select 1 / 0').catch(() => {})
        await tx.script('rollback to savepoint before')
      })
      expect(await noteIds()).toEqual([1])
      await database.query(`delete from ${schema}.notes`)
    })

    it('rejects when a deferred constraint fails at commit', async () => {
      await database.query(`create table ${schema}.pairs (id int unique deferrable initially deferred)`)
      const work = database.transaction(async (tx) => {
        await tx.query(`insert into ${schema}.pairs values (1), (1)`)
      })
      expect(await failure(work)).toMatchObject({ code: '23505' })
      expect(await one(`select count(*) as value from ${schema}.pairs`)).toBe(0)
    })

    it('runs a script of several statements', async () => {
      await database.transaction(async (tx) => {
        await tx.script(`
          insert into ${schema}.notes values (1, 'one;');
          -- a comment; with a semicolon
          insert into ${schema}.notes values (2, 'two');
        `)
      })
      expect(await noteIds()).toEqual([1, 2])
      await database.query(`delete from ${schema}.notes`)
    })

    it('keeps statements in the order in which they were sent, awaited or not', async () => {
      await database.transaction(async (tx) => {
        const writes = [1, 2, 3].map((id) => tx.query(`insert into ${schema}.notes values ($1, 'x')`, [id]))
        const seen = await tx.query<{ id: number }>(`select id from ${schema}.notes order by id`)
        expect(seen.map(({ id }) => id)).toEqual([1, 2, 3])
        await Promise.all(writes)
      })
      await database.query(`delete from ${schema}.notes`)
    })

    it('many at once neither mix nor lose anything', async () => {
      await database.query(`create table ${schema}.counter as select 0 as n`)
      const increments = Array.from({ length: 20 }, () =>
        database.transaction(async (tx) => {
          const [row] = await tx.query<{ n: number }>(`select n from ${schema}.counter for update`)
          await tx.query(`update ${schema}.counter set n = $1`, [row!.n + 1])
        }),
      )
      const queries = Array.from({ length: 20 }, () => database.query(`select n from ${schema}.counter`))
      await Promise.all([...increments, ...queries])
      expect(await one(`select n as value from ${schema}.counter`)).toBe(20)
    })

    it('refuses statements after its end', async () => {
      const leaked = await database.transaction(async (tx) => ({ tx }))
      expect(await failure(leaked.tx.query('select 1'))).toMatchObject({ code: 'closed' })
      expect(await failure(leaked.tx.script('select 1'))).toMatchObject({ code: 'closed' })
    })
  })

  describe('listen', () => {
    it('hears what is notified on its channel, after the commit, until it stops', async () => {
      const channel = `Odd "channel" ${schema}`
      const heard: string[] = []
      const others: string[] = []
      const arrived = new Signal()
      const hear = (payload: string) => {
        heard.push(payload)
        arrived.raise()
      }
      const stop = await database.listen(channel, hear)
      const stopOther = await database.listen(`${channel}.other`, (payload) => others.push(payload))

      await database.query('select pg_notify($1, $2)', [channel, 'first'])
      await arrived.raised(1)
      await database.transaction(async (tx) => {
        await tx.query('select pg_notify($1, $2)', [channel, 'second'])
        await tx.query('select pg_notify($1, $2)', [channel, ''])
        expect(heard).toEqual(['first'])
      })
      await arrived.raised(3)
      expect(heard).toEqual(['first', 'second', ''])

      await stop()
      await database.query('select pg_notify($1, $2)', [channel, 'too late'])
      const fence = new Signal()
      const stopFence = await database.listen(`${channel}.fence`, () => fence.raise())
      await database.query('select pg_notify($1, $2)', [`${channel}.fence`, ''])
      await fence.raised(1)
      expect(heard).toEqual(['first', 'second', ''])
      expect(others).toEqual([])
      await stopOther()
      await stopFence()
    })

    it('tells each listener of a channel, and stopping one keeps the other', async () => {
      const heard: string[] = []
      const arrived = new Signal()
      const hear = (payload: string) => {
        heard.push(payload)
        arrived.raise()
      }
      const stops = [await database.listen(schema, hear), await database.listen(schema, hear)]
      await database.query('select pg_notify($1, $2)', [schema, 'both'])
      await arrived.raised(2)
      await stops[0]!()
      await stops[0]!()
      await database.query('select pg_notify($1, $2)', [schema, 'one'])
      await arrived.raised(3)
      expect(heard).toEqual(['both', 'both', 'one'])
      await stops[1]!()
    })

    it('hears nothing of a transaction that was rolled back', async () => {
      const heard: string[] = []
      const arrived = new Signal()
      const stop = await database.listen(schema, (payload) => {
        heard.push(payload)
        arrived.raise()
      })
      await failure(
        database.transaction(async (tx) => {
          await tx.query('select pg_notify($1, $2)', [schema, 'never'])
          throw new Error('no')
        }),
      )
      await database.query('select pg_notify($1, $2)', [schema, 'yes'])
      await arrived.raised(1)
      expect(heard).toEqual(['yes'])
      await stop()
    })
  })

  describe('close', () => {
    it('waits for what is under way, then refuses', async () => {
      const other = await openTestDatabase()
      const release = new Signal()
      const settled: string[] = []
      const transaction = other
        .transaction(async (tx) => {
          await release.raised(1)
          await tx.query('select 1')
          return 'committed'
        })
        .then((value) => settled.push(value))
      const queued = other.query('select 1').then(() => settled.push('queried'))
      const closed = other.close().then(() => settled.push('closed'))
      for (const late of [
        other.query('select 1'),
        other.transaction(async () => {}),
        other.listen('late', () => {}),
      ]) {
        expect(await failure(late)).toMatchObject({ code: 'closed' })
      }
      release.raise()
      await Promise.all([transaction, queued, closed])
      expect(settled.at(-1)).toBe('closed')
      expect(settled).toHaveLength(3)
      await other.close()
      expect(await failure(other.query('select 1'))).toMatchObject({ code: 'closed' })
    })
  })
})

/** Counts how often it was raised; waits for a count instead of for time. */
class Signal {
  #count = 0
  #waiting: { count: number; resolve: () => void }[] = []

  raise(): void {
    this.#count += 1
    for (const { count, resolve } of this.#waiting) if (count <= this.#count) resolve()
  }

  async raised(count: number): Promise<void> {
    if (this.#count >= count) return
    await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }))
  }
}
