import { describe, expect, it } from 'vitest'
import { hardDelete, set, softDelete, type TransitionDeclaration } from '../../src/index.js'
import { at, openPosts, type Posts } from '../support/posts.js'

const publish = set('status', { from: 'draft', to: 'published' })

/** The mistakes of a declaration, without the table's name in front. */
async function mistakesOf(h: Posts, declaration: unknown, table = 'posts'): Promise<string[]> {
  const error = await h.declare(declaration as TransitionDeclaration, table).then(
    () => null,
    (error) => error,
  )
  expect(error).toMatchObject({ code: 'transition_invalid' })
  return error.message.replaceAll(`table "${table}": `, '').split('\n')
}

const ODD = `
  create type mood as enum ('calm', 'angry');
  create domain feeling as mood;
  create domain short_text as varchar(5) check (value <> 'never');
  create table odd (
    id integer primary key,
    status text not null check (status in ('draft', 'published', 'archived')),
    mood mood,
    felt feeling default 'calm',
    ended_at timestamptz,
    short varchar(5),
    word short_text,
    amount numeric(4, 1),
    doc json,
    doubled integer generated always as (id * 2) stored,
    at_zone timestamp,
    at_required timestamptz not null default now(),
    at_day date,
    due_at timestamptz,
    other_at timestamptz,
    gone_text text,
    gone_required timestamptz not null default now()
  );
  create table keyless (id integer, due_at timestamptz);
  create view seen as select * from odd`

async function openOdd(): Promise<Posts> {
  const h = await openPosts()
  for (const statement of ODD.split(';')) await h.sql(statement)
  return h
}

describe('a declaration', () => {
  it('reports every mistake at once, each with its own message', async () => {
    const h = await openOdd()
    const declaration = {
      softDelete: 'gone_text',
      indexs: 'check',
      fields: {
        due_at: {},
        other_at: [publish, softDelete()],
        at_zone: publish,
        at_required: softDelete(),
        at_day: hardDelete(),
        du_at: hardDelete(),
      },
    }
    expect(await mistakesOf(h, declaration, 'odd')).toEqual([
      'indexs: unknown field (did you mean "indexes"?)',
      'fields.due_at: has no action; give set(column, { from, to }), softDelete() or hardDelete()',
      'fields.other_at: has 2 actions; a field takes exactly one: set(column, { from, to }), softDelete() or hardDelete()',
      'softDelete: "gone_text" is text, and must be a timestamp or a boolean',
      `fields.at_zone: is timestamp without time zone, and must be timestamptz: alter table … alter column "at_zone" type timestamptz using "at_zone" at time zone 'UTC'`,
      'fields.at_required: is not nullable, and null means that nothing is due: alter table … alter column "at_required" drop not null',
      `fields.at_day: is date, and must be timestamptz: alter table … alter column "at_day" type timestamptz using "at_day" at time zone 'UTC'`,
      'fields.du_at: there is no column "du_at" (did you mean "due_at"?)',
    ])
    expect(await h.transitions.list()).toEqual([])
    const indexes = await h.sql(`select from pg_indexes where schemaname = $1 and indexname like '%_due_%'`, [
      h.schema,
    ])
    expect(indexes).toEqual([])
  })

  const REFUSED: readonly (readonly [what: string, declaration: unknown, message: string])[] = [
    ['no fields', { fields: {} }, 'fields: declares no field; name at least one due column and its action'],
    [
      'missing to',
      { fields: { due_at: set('status', {} as never) } },
      'fields.due_at.to: is missing; say what "status" becomes',
    ],
    [
      'a target that is not there',
      { fields: { due_at: set('statu', { to: 'x' }) } },
      'fields.due_at.column: there is no column "statu" (did you mean "status"?)',
    ],
    [
      'a time that moves',
      { fields: { due_at: set('ended_at', { to: ' Today 10:00' }) } },
      'fields.due_at.to: " Today 10:00" – is another time whenever it is read; give one that stays, or let a trigger write it',
    ],
    [
      'a value that is not in the enum',
      { fields: { due_at: set('mood', { to: 'angri' }) } },
      'fields.due_at.to: "angri" – is not in the enum of "mood": calm, angry (did you mean "angry"?)',
    ],
    [
      'a from that is not in the enum',
      { fields: { due_at: set('mood', { from: 'mad', to: 'calm' }) } },
      'fields.due_at.from: "mad" – is not in the enum of "mood": calm, angry',
    ],
    [
      'a value that is not in the CHECK list',
      { fields: { due_at: set('status', { to: 'publishd' }) } },
      `fields.due_at.to: "publishd" – breaks "odd_status_check": CHECK ((status = ANY (ARRAY['draft'::text, 'published'::text, 'archived'::text]))) (did you mean "published"?)`,
    ],
    [
      'a value that does not fit the length',
      { fields: { due_at: set('short', { to: 'published' }) } },
      'fields.due_at.to: "published" – does not fit into character varying(5)',
    ],
    [
      'a value that would be rounded',
      { fields: { due_at: set('amount', { to: 1.25 }) } },
      'fields.due_at.to: 1.25 – does not fit into numeric(4,1)',
    ],
    [
      'a value of another type',
      { fields: { due_at: set('amount', { to: 'much' }) } },
      'fields.due_at.to: "much" – "amount" is numeric(4,1) (invalid input syntax for type numeric: "much")',
    ],
    [
      'null where there is none',
      { fields: { due_at: set('status', { to: null }) } },
      'fields.due_at.to: null – "status" is not nullable',
    ],
    [
      'from that is to',
      { fields: { due_at: set('amount', { from: '1', to: '1.0' }) } },
      'fields.due_at.to: "1.0" – is what it is set from',
    ],
    [
      'a type without equality',
      { fields: { due_at: set('doc', { to: '{}' }) } },
      'fields.due_at.to: "{}" – "doc" is json (operator does not exist: json = json)',
    ],
    [
      'a value that is none',
      { fields: { due_at: set('status', { to: ['x'] as never }) } },
      'fields.due_at.to: ["x"] – must be a text, a number, a boolean, a Date or null',
    ],
    [
      'a generated column',
      { fields: { due_at: set('doubled', { to: 4 }) } },
      'fields.due_at.column: "doubled" is a generated column; set what it is made of',
    ],
    [
      'the primary key',
      { fields: { due_at: set('id', { to: 4 }) } },
      'fields.due_at.column: "id" is part of the primary key, which names the row',
    ],
    [
      'a due column as the target',
      { fields: { due_at: set('other_at', { to: null }), other_at: hardDelete() } },
      'fields.due_at.column: "other_at" is a due column itself',
    ],
    [
      'soft delete without its column',
      { fields: { due_at: softDelete() } },
      'softDelete: is missing; name the column that softDelete() marks, such as softDelete: "deleted_at"',
    ],
    [
      'a soft-delete column that cannot be null',
      { softDelete: 'gone_required', fields: { due_at: softDelete() } },
      'softDelete: "gone_required" is not nullable, and null means that the row is not deleted',
    ],
    [
      'a soft-delete column that is not there',
      { softDelete: 'deleted_at', fields: { due_at: softDelete() } },
      'softDelete: there is no column "deleted_at"',
    ],
    [
      'a hook that is none',
      { fields: { due_at: hardDelete() }, onApplied: 5 },
      'onApplied: 5 – must be a function',
    ],
  ]

  it(`has its own message for each mistake: ${REFUSED.map(([what]) => what).join(', ')}`, async () => {
    const h = await openOdd()
    const found: [string, string[]][] = []
    for (const [what, declaration] of REFUSED) found.push([what, await mistakesOf(h, declaration, 'odd')])
    expect(found).toEqual(REFUSED.map(([what, , message]) => [what, [message]]))
  })

  it('refuses what holds no rows of its own, and rows that cannot be told apart', async () => {
    const h = await openOdd()
    const fields = { due_at: hardDelete() }
    expect(await mistakesOf(h, { fields }, 'keyless')).toEqual([
      'table: has no primary key, so its rows cannot be told apart; add one: alter table … add primary key (…)',
    ])
    expect(await mistakesOf(h, { fields }, 'seen')).toEqual([
      'table: is a view; declare the table that holds the rows',
    ])
    expect((await mistakesOf(h, { fields }, 'ood'))[0]).toMatch(
      /^table: there is none of that name in the schema "test_\w+"/,
    )
    await h.declare({ fields }, 'odd')
    expect(await mistakesOf(h, { fields }, 'odd')).toEqual([
      'table: is declared already; put all its fields into one declaration',
    ])
  })

  it('takes a value that the domain, the enum, the domain over an enum and the CHECK take', async () => {
    const h = await openOdd()
    const fields = {
      due_at: set('word', { to: 'ready' }),
      other_at: set('mood', { from: 'calm', to: 'angry' }),
      ended_at: set('felt', { from: 'calm', to: 'angry' }),
    }
    await h.declare({ fields }, 'odd')
    await h.sql(
      `insert into odd (id, status, mood, word, due_at, other_at, ended_at) values (1, 'draft', 'calm', 'raw', $1, $1, $1)`,
      [at(-1)],
    )
    expect(await h.sweep()).toMatchObject({ updated: 3, quarantined: 0 })
    expect(await h.sql('select word, mood, felt from odd')).toEqual([
      { word: 'ready', mood: 'angry', felt: 'angry' },
    ])
    expect(await h.sweep()).toMatchObject({ updated: 0 })
  })
})

/** No index compresses it. */
const LONG_KEY = `(select left(string_agg(encode(sha256(n::text::bytea), 'base64'), ''), 2688) from generate_series(1, 70) as n)`

describe('keys and names', () => {
  const KEYS: readonly (readonly [what: string, column: string, value: string, keys: object[]])[] = [
    [
      'uuid',
      'id uuid primary key',
      `'00000000-0000-4000-8000-000000000001'`,
      [{ id: '00000000-0000-4000-8000-000000000001' }],
    ],
    ['bigint beyond a number', 'id bigint primary key', '9007199254740993', [{ id: '9007199254740993' }]],
    ['bigint', 'id bigint generated always as identity primary key', 'default', [{ id: 1 }]],
    ['numeric', 'id numeric primary key', '1.50', [{ id: '1.50' }]],
    [
      'text with odd characters',
      'id text primary key',
      `E'it''s "odd" \\\\ {schema} \\n ü𝄞'`,
      [{ id: `it's "odd" \\ {schema} \n ü𝄞` }],
    ],
    [
      'text too long for an index beside its due time',
      'id text primary key',
      LONG_KEY,
      [{ id: expect.stringMatching(/^.{2688}$/) }],
    ],
    [
      'a timestamp, whatever the session shows',
      'id timestamptz primary key',
      `'2026-01-01T00:00:00.123456Z'`,
      [{ id: '2026-01-01T00:00:00.123456Z' }],
    ],
    ['bytea', 'id bytea primary key', `'\\xff00'`, [{ id: '\\xff00' }]],
    ['interval', 'id interval primary key', `'1 day 01:00:00.5'`, [{ id: '90000.500000 seconds' }]],
    ['float8', 'id float8 primary key', '0.1::float8 + 0.2', [{ id: 0.1 + 0.2 }]],
  ]

  it(`are of any type: ${KEYS.map(([what]) => what).join(', ')}`, async () => {
    const changes: [table: string, key: object][] = []
    const h = await openPosts({ sweeper: { onApplied: ({ table, key }) => changes.push([table, key]) } })
    for (const [index, [, column, value]] of KEYS.entries()) {
      await h.sql(`create table things_${index} (${column}, status text, due_at timestamptz)`)
      await h.declare({ fields: { due_at: set('status', { to: 'done' }) } }, `things_${index}`)
      await h.sql(`insert into things_${index} values (${value}, 'new', $1)`, [at(-1)])
    }
    expect(await h.sweep()).toMatchObject({ updated: KEYS.length, quarantined: 0 })
    expect(changes).toEqual(KEYS.map(([, , , [key]], index) => [`${h.schema}.things_${index}`, key]))
    // What was applied is known again in a session that shows values in another way.
    for (const index of KEYS.keys()) await h.sql(`update things_${index} set status = 'new'`)
    const { database } = h.escapement
    await database.query(`set time zone 'UTC'`)
    await database.query('set intervalstyle = iso_8601')
    await database.query('set extra_float_digits = -10')
    expect(await h.sweep()).toMatchObject({ updated: 0, skipped: 0 })
    await database.query(`set time zone 'Pacific/Chatham'`)
    await database.query('reset intervalstyle')
    await database.query('reset extra_float_digits')
    // And what a trigger keeps back is found again.
    await h.sql('create function keep() returns trigger language plpgsql as $$ begin return null; end $$')
    for (const index of KEYS.keys()) {
      await h.sql(`update things_${index} set due_at = $1`, [at(-2)])
      await h.sql(`create trigger keep before update on things_${index} for each row execute function keep()`)
    }
    expect(await h.sweep()).toMatchObject({ quarantined: KEYS.length, skipped: 0 })
    expect(await h.sweep()).toMatchObject({ quarantined: 0, skipped: 0 })
  })

  it('are told apart before and after Christ', async () => {
    const h = await openPosts(
      {},
      'create table days (id date, at timestamptz, done boolean, due_at timestamptz, primary key (id, at))',
    )
    await h.declare({ fields: { due_at: set('done', { to: true }) } }, 'days')
    await h.sql(
      `insert into days select day, instant, false, $1 from unnest('{0044-03-15, 0044-03-15 BC}'::date[]) as day,
         unnest('{0044-03-15T12:00Z, 0044-03-15T12:00Z BC}'::timestamptz[]) as instant`,
      [at(-1)],
    )
    expect(await h.sweep()).toMatchObject({ updated: 4 })
    expect(await h.sql('select count(*) from transition_log')).toEqual([{ count: 4 }])
  })

  it('tables whose long names begin alike have indexes of their own', async () => {
    const h = await openPosts()
    for (const name of ['a', 'b'].map((end) => `${'long_'.repeat(11)}${end}`)) {
      await h.sql(`create table ${name} (id integer primary key, done boolean, due_at timestamptz)`)
      await h.declare({ fields: { due_at: set('done', { to: true }) } }, name)
    }
    expect(await h.transitions.list()).toHaveLength(2)
  })

  it('composite keys are told apart byte by byte', async () => {
    const keys: object[] = []
    const h = await openPosts(
      { sweeper: { onApplied: ({ key }) => keys.push(key) } },
      'create table parts (a text, b integer, due_at timestamptz, done boolean, primary key (b, a))',
    )
    await h.declare({ fields: { due_at: set('done', { to: true }) } }, 'parts')
    await h.sql(
      `insert into parts (a, b, due_at) values ('1","2', 1, $1), ('1', 1, $1), ('A', 1, $1), ('a', 1, $1)`,
      [at(-1)],
    )
    expect(await h.sweep()).toMatchObject({ updated: 4 })
    expect(keys).toContainEqual({ a: '1","2', b: 1 })
    expect(await h.sql(`select key from transition_log order by key`)).toEqual([
      { key: '["1", "1"]' },
      { key: '["1", "1\\",\\"2"]' },
      { key: '["1", "A"]' },
      { key: '["1", "a"]' },
    ])
  })

  it('names with capitals, spaces, dots, quotes and braces', async () => {
    const h = await openPosts(
      {},
      `create table "Odd ""{schema}"".Table" ("The Key" integer primary key, "Status's" text, "Due.At" timestamptz, "{schema}" timestamptz)`,
    )
    const table = `"${h.schema}"."Odd ""{schema}"".Table"`
    await h.transitions.declare(table, {
      fields: {
        'Due.At': set("Status's", { from: "it's \\ {schema}", to: '{schema} $1 ?' }),
        '{schema}': hardDelete(),
      },
    })
    await h.sql(`insert into ${table} values (1, $1, $2, null), (2, $1, null, $2)`, [
      "it's \\ {schema}",
      at(-1),
    ])
    expect(await h.transitions.sweep()).toMatchObject({ updated: 1, deleted: 1, tables: [{ table }] })
    expect(await h.sql(`select "Status's" as status from ${table}`)).toEqual([{ status: '{schema} $1 ?' }])
    expect(await h.sweep()).toMatchObject({ updated: 0, deleted: 0 })
  })

  it('a table is found in the search path by its bare name', async () => {
    const h = await openPosts()
    const { database } = h.escapement
    const name = `bare_${h.schema}`
    await database.query(`create table ${name} (id integer primary key, due_at timestamptz)`)
    await h.transitions.declare(name, { fields: { due_at: hardDelete() } })
    expect(await h.transitions.list()).toMatchObject([{ table: name, key: ['id'] }])
    await database.query(`drop table ${name}`)
  })

  it('a partitioned table is swept once its index is there, which is left to its owner', async () => {
    const h = await openPosts(
      {},
      `create table events (id integer, day integer, done boolean, due_at timestamptz, primary key (id, day)) partition by list (day)`,
    )
    await h.sql('create table events_1 partition of events for values in (1)')
    await h.sql('create table events_2 partition of events for values in (2)')
    const declaration = { fields: { due_at: set('done', { to: true }) } }
    const [mistake] = await mistakesOf(h, declaration, 'events')
    const statement =
      /^fields.due_at: has no index, and that of a partitioned table is yours to build: (create index .*)$/.exec(
        mistake!,
      )![1]!
    await h.sql(statement)
    await h.declare(declaration, 'events')
    await h.sql('insert into events select n, 1 + n % 2, false, $1 from generate_series(1, 20) as n', [
      at(-1),
    ])
    expect(await h.sweep()).toMatchObject({ updated: 20, quarantined: 0 })
    expect(await h.sql('select count(*) from events where done')).toEqual([{ count: 20 }])
  })
})

describe('indexes', () => {
  const declaration = {
    softDelete: 'deleted_at',
    fields: {
      publish_at: publish,
      archive_at: set('status', { to: 'archived' }),
      expires_at: softDelete(),
      purge_at: hardDelete(),
    },
  }
  const definitions = (h: Posts) =>
    h
      .sql<{ definition: string }>(
        `select substring(indexdef from 'USING.*') as definition from pg_indexes where schemaname = $1 and indexname like '%\\_due\\_%' order by indexname`,
        [h.schema],
      )
      .then((rows) => rows.map(({ definition }) => definition))

  it('hold the whole due predicate except the time, so that done rows leave them', async () => {
    const h = await openPosts()
    await h.declare(declaration)
    expect(await definitions(h)).toEqual([
      `USING btree (archive_at) WHERE ((archive_at IS NOT NULL) AND (status IS DISTINCT FROM 'archived'::text) AND (deleted_at IS NULL))`,
      'USING btree (expires_at) WHERE ((expires_at IS NOT NULL) AND (deleted_at IS NULL))',
      `USING btree (publish_at) WHERE ((publish_at IS NOT NULL) AND (status = 'draft'::text) AND (deleted_at IS NULL))`,
      'USING btree (purge_at) WHERE (purge_at IS NOT NULL)',
    ])
  })

  it('with check, nothing is built: the declaration is refused with the statements, and taken once they have run', async () => {
    const h = await openPosts({ sweeper: { indexes: 'check' } })
    const mistakes = await mistakesOf(h, declaration)
    expect(mistakes[0]).toMatch(
      /^fields.publish_at: has no index; create it: create index concurrently "posts_publish_at_due_[0-9a-f]{8}" on /,
    )
    expect(await definitions(h)).toEqual([])
    for (const mistake of mistakes)
      await h.sql(mistake.replace(/^.*?create it: /, '').replace(' concurrently', ''))
    await h.declare(declaration)
    expect(await definitions(h)).toHaveLength(4)
  })

  it('find what is due without reading past rows that are done', async () => {
    const h = await openPosts()
    await h.declare({ fields: { publish_at: publish } })
    await h.sql(
      `insert into posts (id, status, publish_at) select n, case when n % 100 = 0 then 'draft' else 'published' end, $1::timestamptz - n * interval '1 minute'
       from generate_series(1, 5000) as n`,
      [at(0)],
    )
    await h.sql('analyze posts')
    const sizes = await h.sql<{ rows: number }>(
      `select c.reltuples::int as rows from pg_class as c where relname like 'posts\\_publish\\_at\\_due%' and relnamespace = $1::regnamespace`,
      [`"${h.schema}"`],
    )
    expect(sizes).toEqual([{ rows: 50 }])
    expect(await h.sweep()).toMatchObject({ updated: 50, truncated: false })
  })
})
