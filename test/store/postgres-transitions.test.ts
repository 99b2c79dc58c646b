import { describe, expect, it, onTestFinished } from 'vitest'
import { declareTable } from '../../src/client/declaring.js'
import { assemble } from '../../src/escapement.js'
import { createEscapement, set } from '../../src/index.js'
import { silentLogger } from '../../src/logger.js'
import { lockDueRows, readLockedRows } from '../../src/store/queries/transition-sweep.js'
import { createStore } from '../../src/store/store.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { createTransitionRegistry } from '../../src/transitions/registry.js'
import { at, NOON, openPosts, type Posts, urlOfPosts } from '../support/posts.js'

const publish = set('status', { from: 'draft', to: 'published' })
const clock = createManualClock(Date.parse(NOON))

/** Another process on the same tables. */
async function anotherProcess(h: Posts, url?: string) {
  const database = url ?? (await urlOfPosts())
  const assembly = await assemble({ database, schema: h.schema, clock, migrate: false })
  onTestFinished(() => assembly.escapement.close())
  return assembly.escapement
}

const insertDrafts = (h: Posts, count: number) =>
  h.sql(
    `insert into posts (id, status, publish_at) select n, 'draft', $1 from generate_series(1, $2::int) as n`,
    [at(-1), count],
  )

describe('sweeps at the same time', () => {
  it('act once on each row', async () => {
    const h = await openPosts({ sweeper: { batchSize: 20 } })
    await insertDrafts(h, 200)
    const seen: unknown[] = []
    const declaration = {
      fields: { publish_at: publish },
      onApplied: ({ key }: { key: Record<string, unknown> }) => seen.push(key.id),
    }
    const others = await Promise.all([1, 2, 3].map(() => anotherProcess(h)))
    await Promise.all([
      h.declare(declaration),
      ...others.map((other) => other.transitions.declare(`${h.schema}.posts`, declaration)),
    ])
    const drain = async (sweep: () => Promise<{ truncated: boolean }>) => {
      while ((await sweep()).truncated);
    }
    await Promise.all([h, ...others].map(({ transitions }) => drain(transitions.sweep)))
    // What one of them left because another held it is nobody's loss.
    await drain(h.transitions.sweep)
    expect(seen.sort((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 200 }, (_, index) => index + 1),
    )
    expect(await h.sql('select count(*) from transition_log')).toEqual([{ count: 200 }])
  })

  it('pass over a row that somebody is editing, and leave it if it was un-scheduled', async () => {
    const h = await openPosts()
    await h.declare({ fields: { publish_at: publish } })
    await insertDrafts(h, 2)
    await h.escapement.database.transaction(async (tx) => {
      await tx.query(`update "${h.schema}".posts set publish_at = null where id = 1`)
      expect(await h.sweep()).toMatchObject({ updated: 1, skipped: 0, truncated: false })
    })
    expect(await h.sweep()).toMatchObject({ updated: 0 })
    expect(await h.sql('select status from posts order by id')).toEqual([
      { status: 'draft' },
      { status: 'published' },
    ])
  })

  it('look at the log again once the rows are locked', async () => {
    const h = await openPosts()
    await insertDrafts(h, 2)
    const { database } = h.escapement
    const store = createStore(database, h.schema, clock)
    const table = await declareTable(
      {
        store,
        database,
        tables: createTransitionRegistry(),
        logger: silentLogger,
        indexes: 'create',
        wake: false,
      },
      { schema: h.schema, table: 'posts' },
      { fields: { publish_at: publish } },
    )
    await store.transaction(async (session) => {
      const locked = await lockDueRows(session, table, 10)
      await h.sql(
        `insert into transition_log (field_id, key, due_at, applied_at, action) select id, '1', $1, $1, 'set' from transition_fields`,
        [at(-1)],
      )
      const { rows } = await readLockedRows(session, table, locked)
      expect(rows.map(({ due }) => due)).toEqual([[], [0]])
    })
  })
})

describe('what one table suffers', () => {
  const finish = set('status', { to: 'done' })

  async function postsAndNotes(fields: Parameters<Posts['declare']>[0]) {
    const h = await openPosts({ sweeper: { batchSize: 4 } })
    await h.sql('create table notes (id integer primary key, status text, due_at timestamptz)')
    await h.declare(fields)
    await h.declare({ fields: { due_at: finish } }, 'notes')
    await insertDrafts(h, 4)
    await h.sql(`insert into notes values (1, 'new', $1)`, [at(-1)])
    return h
  }

  it('by a lock on all of it, is its own failure, and leaves no statement behind', async () => {
    const h = await postsAndNotes({ fields: { publish_at: publish } })
    await h.escapement.database.transaction(async (tx) => {
      await tx.query(`lock table "${h.schema}".posts in access exclusive mode`)
      expect(await h.transitions.sweep()).toMatchObject({
        updated: 1,
        errors: [{ table: `${h.schema}.posts`, message: expect.stringContaining('lock timeout') }],
      })
      const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%"${h.schema}"."posts"%'`
      expect(await h.escapement.database.query(waiting)).toEqual([])
    })
    expect(await h.sweep()).toMatchObject({ updated: 4 })
  })

  it('by a hook in which the server ends the session, is its own failure, and fewer rows are tried', async () => {
    const batches: number[] = []
    const h = await postsAndNotes({
      fields: { publish_at: publish },
      async inTransaction(tx, changes) {
        batches.push(changes.length)
        const [own] = await tx.query<{ pid: number }>('select pg_backend_pid() as pid')
        await h.escapement.database.query('select pg_terminate_backend($1, 1000)', [own!.pid])
        await new Promise((resolve) => setTimeout(resolve, 20))
      },
    })
    expect(await h.transitions.sweep()).toMatchObject({ updated: 1, truncated: true, errors: [] })
    expect(await h.transitions.sweep()).toMatchObject({ updated: 0, truncated: true })
    expect(await h.transitions.sweep()).toMatchObject({
      truncated: false,
      errors: [{ table: `${h.schema}.posts`, message: expect.stringContaining('connection') }],
    })
    expect(batches).toEqual([4, 2, 1])
  })
})

describe('indexes on a server', () => {
  it('are built once by processes that start together, and one that is invalid is repaired', async () => {
    const h = await openPosts()
    const declaration = { fields: { publish_at: publish, archive_at: set('status', { to: 'archived' }) } }
    const states = () =>
      h.sql(
        `select i.relname like 'posts\\_%\\_due\\_%' as is_ours, indisvalid from pg_index join pg_class as i on i.oid = indexrelid
         where indrelid = '"${h.schema}".posts'::regclass and not indisprimary`,
      )
    const processes = await Promise.all([1, 2, 3].map(() => anotherProcess(h)))
    await Promise.all(
      processes.map(({ transitions }) => transitions.declare(`${h.schema}.posts`, declaration)),
    )
    const valid = { is_ours: true, indisvalid: true }
    expect(await states()).toEqual([valid, valid])
    await h.sql(
      `update pg_index set indisvalid = false where indrelid = '"${h.schema}".posts'::regclass and not indisprimary`,
    )
    await expect(h.declare({ ...declaration, indexes: 'check' })).rejects.toThrow(
      /its index is invalid; drop it, and create it: create index concurrently/,
    )
    await h.declare(declaration)
    expect(await states()).toEqual([valid, valid])
  })
})

describe('a CHECK', () => {
  it('refuses a declaration only if it is enforced', async () => {
    const h = await openPosts()
    const [server] = await h.sql<{ is_new: boolean }>(
      `select current_setting('server_version_num')::int >= 180000 as is_new`,
    )
    const checks = (enforced: string) =>
      h.sql(`alter table posts add constraint never check (status <> 'published') ${enforced}`)
    await checks('')
    const declared = h.declare({ fields: { publish_at: publish } })
    await expect(declared).rejects.toThrow(/breaks "never"/)
    await h.sql('alter table posts drop constraint never')
    if (server!.is_new) await checks('not enforced')
    await h.declare({ fields: { publish_at: publish } })
  })
})

describe('row-level security', () => {
  it('is respected: rows that policies hide are not swept, what they refuse is set aside, and the list says so', async () => {
    const h = await openPosts()
    const role = `role_${h.schema}`
    const { database } = h.escapement
    await database.query(`create role ${role}`)
    onTestFinished(async () => {
      await database.query(`drop owned by ${role}`)
      await database.query(`drop role ${role}`)
    })
    await database.query(`grant usage on schema "${h.schema}" to ${role}`)
    await database.query(`grant all on all tables in schema "${h.schema}" to ${role}`)
    await h.declare({ fields: { publish_at: publish } })
    await h.sql('alter table posts enable row level security')
    await h.sql(`create policy seen on posts using (id > 1) with check (id > 2)`)
    await insertDrafts(h, 3)
    const url = new URL(await urlOfPosts())
    url.searchParams.set('options', `-c role=${role}`)
    const restricted = await anotherProcess(h, url.href)
    await restricted.transitions.declare(`${h.schema}.posts`, { fields: { publish_at: publish } })
    expect(await restricted.transitions.list()).toMatchObject([{ rowSecurity: true, due: 2 }])
    expect(await restricted.transitions.sweep()).toMatchObject({
      updated: 1,
      quarantined: 1,
      errors: [{ key: { id: 2 }, message: expect.stringContaining('row-level security') }],
    })
    expect(await h.sql('select status from posts order by id')).toEqual([
      { status: 'draft' },
      { status: 'draft' },
      { status: 'published' },
    ])
  })

  it('a user who may not do what is declared hears of it', async () => {
    const h = await openPosts()
    const role = `role_${h.schema}`
    const { database } = h.escapement
    await database.query(`create role ${role}`)
    onTestFinished(async () => {
      await database.query(`drop owned by ${role}`)
      await database.query(`drop role ${role}`)
    })
    await database.query(`grant usage on schema "${h.schema}" to ${role}`)
    await database.query(`grant all on all tables in schema "${h.schema}" to ${role}`)
    await h.sql(`revoke all on posts from ${role}`)
    await h.sql(`grant select on posts to ${role}`)
    const url = new URL(await urlOfPosts())
    url.searchParams.set('options', `-c role=${role}`)
    const restricted = await createEscapement({ database: url.href, schema: h.schema, migrate: false })
    onTestFinished(() => restricted.close())
    const declared = restricted.transitions.declare(`${h.schema}.posts`, { fields: { publish_at: publish } })
    await expect(declared).rejects.toThrow(/this database user may not update "status"; grant it/)
    await h.sql(`grant update on posts to ${role}`)
    const again = restricted.transitions.declare(`${h.schema}.posts`, { fields: { publish_at: publish } })
    await expect(again).rejects.toThrow(
      /its index could not be built \(must be owner of table posts\); create it in a migration: create index concurrently/,
    )
    // Once its owner has built it the rest can be done by one who may update and nothing more.
    await h.declare({ fields: { publish_at: publish } })
    await restricted.transitions.declare(`${h.schema}.posts`, { fields: { publish_at: publish } })
    await insertDrafts(h, 2)
    expect(await restricted.transitions.sweep()).toMatchObject({ updated: 2, errors: [] })
    // Whom that is taken from while it runs: it is the table that cannot be swept, and no fault of its rows.
    await h.sql(`revoke update on posts from ${role}`)
    await h.sql(`grant update (archive_at) on posts to ${role}`)
    await h.sql(`update posts set status = 'draft', publish_at = publish_at - interval '1 second'`)
    expect(await restricted.transitions.sweep()).toMatchObject({
      quarantined: 0,
      errors: [{ table: `${h.schema}.posts`, message: 'permission denied for table posts' }],
    })
  })

  it('that is switched on later keeps the log of what it hides', async () => {
    const h = await openPosts()
    const role = `role_${h.schema}`
    const { database } = h.escapement
    await database.query(`create role ${role}`)
    onTestFinished(async () => {
      await database.query(`drop owned by ${role}`)
      await database.query(`drop role ${role}`)
    })
    await database.query(`grant usage on schema "${h.schema}" to ${role}`)
    await database.query(`grant all on all tables in schema "${h.schema}" to ${role}`)
    await h.declare({ fields: { publish_at: publish } })
    const url = new URL(await urlOfPosts())
    url.searchParams.set('options', `-c role=${role}`)
    const { escapement, sweeper } = await assemble({
      database: url.href,
      schema: h.schema,
      clock,
      migrate: false,
    })
    onTestFinished(() => escapement.close())
    await escapement.transitions.declare(`${h.schema}.posts`, { fields: { publish_at: publish } })
    await insertDrafts(h, 2)
    await h.sweep()
    await h.sql(`update transition_log set applied_at = applied_at - interval '91 days'`)
    await h.sql('alter table posts enable row level security')
    await sweeper.prune()
    expect(await h.sql('select count(*) from transition_log')).toEqual([{ count: 2 }])
    await h.sql('alter table posts disable row level security')
    await h.sql('delete from posts where id = 1')
    await sweeper.prune()
    expect(await h.sql('select key from transition_log')).toEqual([{ key: '2' }])
  })
})
