import { describe, expect, it } from 'vitest'
import { assemble } from '../../src/escapement.js'
import { hardDelete, type Logger, set, softDelete, type TransitionChange } from '../../src/index.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { at, NOON, openPosts, type Posts } from '../support/posts.js'

const nothing = { updated: 0, deleted: 0, skipped: 0, quarantined: 0, truncated: false }
const publish = set('status', { from: 'draft', to: 'published' })

/** A logger that keeps its lines. */
function keepingLogger() {
  const lines: string[] = []
  const keep = (_: object, message: string) => void lines.push(message)
  return { lines, logger: { debug() {}, info() {}, warn: keep, error: keep } satisfies Logger }
}

describe('a row that cannot be changed', () => {
  it('is quarantined and reported; the others are done in the same sweep', async () => {
    const h = await openPosts()
    await h.sql(`alter table posts add check (id % 7 <> 3 or status <> 'published')`)
    await h.declare({ fields: { publish_at: publish } })
    await h.sql(
      `insert into posts (id, status, publish_at) select n, 'draft', $1 from generate_series(1, 20) as n`,
      [at(-1)],
    )
    const report = await h.transitions.sweep()
    expect(report).toMatchObject({ updated: 17, quarantined: 3, truncated: false })
    expect(report.errors.map(({ key }) => key)).toEqual([{ id: 3 }, { id: 10 }, { id: 17 }])
    expect(report.errors[0]!.message).toContain('violates check constraint')
    expect(await h.sql(`select count(*) from posts where status = 'published'`)).toEqual([{ count: 17 }])
    expect(await h.transitions.list()).toMatchObject([
      { due: 0, quarantined: 3, fields: [{ quarantined: 3 }] },
    ])

    expect(await h.escapement.doctor()).toMatchObject([
      {
        kind: 'quarantined',
        subject: `${h.schema}.posts by publish_at`,
        detail: expect.stringMatching(/^3 rows could not be changed, first 10: new row .* violates check/),
      },
    ])

    expect(await h.sweep()).toEqual(nothing)
    // Edited, given another due time, and gone.
    await h.sql('update posts set archive_at = publish_at where id = 3')
    await h.sql(`update posts set publish_at = publish_at + interval '1 second' where id = 10`)
    await h.sql('delete from posts where id = 17')
    expect(await h.transitions.list()).toMatchObject([{ due: 2, quarantined: 0 }])
    expect(await h.sweep()).toEqual({ ...nothing, quarantined: 2 })
    await h.sql('alter table posts drop constraint posts_check')
    expect(await h.sweep()).toEqual(nothing)
    expect(await h.transitions.sweep({ quarantined: true })).toMatchObject({ updated: 2 })
    expect(await h.sql('select * from transition_quarantine')).toEqual([])
  })

  it('keeps nothing of the batch from being changed that is checked at the commit only', async () => {
    const h = await openPosts()
    await h.sql(
      'create table comments (id integer primary key, post integer references posts deferrable initially deferred)',
    )
    await h.declare({ fields: { purge_at: hardDelete() } })
    await h.sql('insert into posts (id, purge_at) select n, $1 from generate_series(1, 6) as n', [at(-1)])
    await h.sql('insert into comments values (1, 4)')
    const report = await h.transitions.sweep()
    expect(report).toMatchObject({ deleted: 5, quarantined: 1, errors: [{ key: { id: 4 } }] })
    expect(await h.sql('select id from posts')).toEqual([{ id: 4 }])
  })

  it('has its first step done where only a later one is refused', async () => {
    const h = await openPosts()
    await h.sql(`alter table posts add check (status <> 'archived' or id > 1)`)
    await h.declare({ fields: { publish_at: publish, archive_at: set('status', { to: 'archived' }) } })
    await h.sql(
      `insert into posts (id, status, publish_at, archive_at) values (1, 'draft', $1, $2), (2, 'draft', $1, $2)`,
      [at(-2), at(-1)],
    )
    expect(await h.sweep()).toEqual({ ...nothing, updated: 3, truncated: true })
    expect(await h.sweep()).toEqual({ ...nothing, quarantined: 1 })
    expect(await h.sql('select status from posts order by id')).toEqual([
      { status: 'published' },
      { status: 'archived' },
    ])
  })

  it('because a trigger keeps it as it is, is quarantined too, and not logged as changed', async () => {
    const h = await openPosts()
    await h.sql(`create function keep() returns trigger language plpgsql as $$
      begin
        if old.id = 1 then return null; end if;
        if old.id = 2 then new.status := old.status; new.archive_at := now(); end if;
        return new;
      end $$`)
    await h.sql('create function keep_row() returns trigger language plpgsql as $$ begin return null; end $$')
    await h.sql('create trigger keep before update on posts for each row execute function keep()')
    await h.sql('create trigger keep_row before delete on posts for each row execute function keep_row()')
    await h.declare({ fields: { publish_at: publish, purge_at: hardDelete() } })
    await h.sql(
      `insert into posts (id, status, publish_at, purge_at) values (1, 'draft', $1, null), (2, 'draft', $1, null), (3, 'draft', $1, null), (4, 'draft', null, $1)`,
      [at(-1)],
    )
    const report = await h.transitions.sweep()
    expect(report).toMatchObject({ updated: 1, deleted: 0, quarantined: 3 })
    expect(report.errors).toEqual(
      [1, 2, 4].map((id) => ({
        table: `${h.schema}.posts`,
        key: { id },
        message: 'a trigger kept the row from changing',
      })),
    )
    expect(await h.sql('select key from transition_log')).toEqual([{ key: '3' }])
    expect(await h.sweep()).toEqual(nothing)
    expect(await h.transitions.list()).toMatchObject([{ due: 0, quarantined: 3 }])
  })

  it('because a trigger writes it itself and returns null, is quarantined once, and the others get their turn', async () => {
    const h = await openPosts({ sweeper: { batchSize: 3 } })
    await h.sql(`create function soften() returns trigger language plpgsql as $$
      begin
        if old.id > 4 then return old; end if;
        update "${h.schema}".posts set deleted_at = clock_timestamp() where id = old.id;
        return null;
      end $$`)
    await h.sql('create trigger soften before delete on posts for each row execute function soften()')
    await h.sql(`create function divert() returns trigger language plpgsql as $$
      begin
        if pg_trigger_depth() > 1 then return new; end if;
        update "${h.schema}".posts set deleted_at = clock_timestamp() where id = old.id;
        return null;
      end $$`)
    await h.sql('create trigger divert before update on posts for each row execute function divert()')
    await h.declare({
      fields: { purge_at: hardDelete(), publish_at: publish, archive_at: set('status', { to: 'archived' }) },
    })
    await h.sql('insert into posts (id, purge_at) select n, $1 from generate_series(1, 7) as n', [at(-2)])
    await h.sql(`insert into posts (id, status, publish_at, archive_at) values (8, 'draft', $1, $1)`, [
      at(-1),
    ])
    const reports = [await h.sweep()]
    while (reports.length < 9 && reports.at(-1)!.truncated) reports.push(await h.sweep())
    expect(reports.reduce((sum, { quarantined }) => sum + quarantined, 0)).toBe(6)
    expect(await h.sweep()).toEqual(nothing)
    expect(await h.sql('select id from posts order by id')).toEqual([1, 2, 3, 4, 8].map((id) => ({ id })))
    expect(await h.transitions.list()).toMatchObject([{ due: 0, quarantined: 6 }])
  })

  it('is quarantined as its triggers leave it, and not at all where they have done what was to be done', async () => {
    const h = await openPosts()
    await h.sql(`create function keep() returns trigger language plpgsql as $$
      begin
        if pg_trigger_depth() > 1 then return new; end if;
        if old.id = 3 then
          update "${h.schema}".posts set status = 'published' where id = 3;
          return null;
        end if;
        new.status := old.status;
        return new;
      end $$`)
    await h.sql(`create function stamp() returns trigger language plpgsql as $$
      begin
        update "${h.schema}".posts set deleted_at = now() where id = new.id and id < 3;
        return null;
      exception when division_by_zero then return null;
      end $$`)
    await h.sql('create trigger keep before update on posts for each row execute function keep()')
    await h.sql('create trigger stamp after update of status on posts for each row execute function stamp()')
    await h.declare({ fields: { publish_at: publish } })
    await h.sql(
      `insert into posts (id, status, publish_at) select n, 'draft', $1 from generate_series(1, 3) as n`,
      [at(-1)],
    )
    expect(await h.sweep()).toEqual({ ...nothing, quarantined: 2, skipped: 1 })
    expect(await h.sweep()).toEqual(nothing)
    expect(await h.sql('select key from transition_quarantine order by key')).toEqual([
      { key: '1' },
      { key: '2' },
    ])
  })

  it('keeps what a trigger lets through, and is logged for no more than that', async () => {
    const h = await openPosts()
    await h.sql(`create function keep() returns trigger language plpgsql as $$
      begin
        if new.status = 'archived' then return null; end if;
        new.deleted_at := old.deleted_at;
        return new;
      end $$`)
    await h.sql('create trigger keep before update on posts for each row execute function keep()')
    await h.declare({
      softDelete: 'deleted_at',
      fields: {
        publish_at: publish,
        archive_at: set('status', { from: 'published', to: 'archived' }),
        expires_at: softDelete(),
      },
    })
    await h.sql(
      `insert into posts (id, status, publish_at, archive_at, expires_at) values
         (1, 'draft', $1, $2, null), (2, 'draft', $1, null, $2), (3, 'draft', $1, null, null)`,
      [at(-2), at(-1)],
    )
    expect(await h.sweep()).toEqual({ ...nothing, updated: 3, truncated: true })
    expect(await h.sweep()).toEqual({ ...nothing, quarantined: 2 })
    expect(await h.sql('select status, deleted_at from posts')).toEqual(
      Array(3).fill({ status: 'published', deleted_at: null }),
    )
    expect(await h.sql('select key, to_value from transition_log order by key')).toEqual(
      ['1', '2', '3'].map((key) => ({ key, to_value: 'published' })),
    )
    expect(await h.sweep()).toEqual(nothing)
  })

  it('is quarantined whatever the code of the error, but for faults of the server and of the table', async () => {
    const h = await openPosts()
    await h.sql('create table codes (id integer primary key, code text)')
    await h.sql(`create function refuse() returns trigger language plpgsql as $$
      declare
        raised text := (select code from "${h.schema}".codes where id = old.id);
      begin
        if raised = 'bug' then perform 1 from nowhere_at_all; end if;
        if raised is not null then raise exception 'no %', raised using errcode = raised; end if;
        return new;
      end $$`)
    await h.sql(
      'create trigger refuse before update of status on posts for each row execute function refuse()',
    )
    await h.declare({ fields: { publish_at: publish } })
    const codes = ['PT403', 'ABCDE', '55000', '0A000', '42501', 'bug']
    await h.sql(
      `insert into posts (id, status, publish_at) select n, 'draft', $1 from generate_series(1, 8) as n`,
      [at(-1)],
    )
    await h.sql('insert into codes select row_number() over (), code from unnest($1::text[]) as code', [
      codes,
    ])
    expect(await h.sweep()).toEqual({ ...nothing, updated: 2, quarantined: 6 })
    expect(await h.sql('select code from transition_quarantine order by key')).toEqual(
      [...codes.slice(0, 5), '42P01'].map((code) => ({ code })),
    )

    const table = `${h.schema}.posts`
    await h.sql(`update posts set archive_at = $1 where id < 4`, [at(1)])
    await h.sql(`update codes set code = 'bug'`)
    const bug = [{ table, message: expect.stringContaining('nowhere_at_all') }]
    expect(await h.transitions.sweep()).toMatchObject({ ...nothing, errors: bug })
    await h.sql(`update codes set code = case id when 1 then '40001' end`)
    const conflict = [{ table, message: 'no 40001' }]
    expect(await h.transitions.sweep()).toMatchObject({ ...nothing, errors: conflict })
    await h.sql('delete from codes')
    expect(await h.sweep()).toEqual({ ...nothing, updated: 3 })
    // Changed, and so not set aside any more.
    expect(await h.sql('select key from transition_quarantine order by key')).toEqual(
      ['4', '5', '6'].map((key) => ({ key })),
    )
  })

  it('is tried again when something else is declared for it', async () => {
    const h = await openPosts()
    await h.sql('create function keep() returns trigger language plpgsql as $$ begin return null; end $$')
    await h.sql('create trigger keep before delete on posts for each row execute function keep()')
    await h.declare({ fields: { publish_at: publish, purge_at: hardDelete() } })
    await h.sql(`alter table posts add check (status <> 'published')`)
    await h.sql(
      `insert into posts (id, status, publish_at, purge_at) values (1, 'draft', $1, null), (2, 'draft', null, $1)`,
      [at(-1)],
    )
    expect(await h.sweep()).toEqual({ ...nothing, quarantined: 2 })
    const again = await assemble({
      database: h.escapement.database,
      schema: h.schema,
      clock: createManualClock(Date.parse(NOON)),
    })
    const { transitions } = again.escapement
    const fields = { publish_at: set('status', { from: 'draft', to: 'public' }), purge_at: hardDelete() }
    await transitions.declare(`${h.schema}.posts`, { fields })
    expect(await transitions.sweep()).toMatchObject({ ...nothing, updated: 1 })
    expect(await h.sql('select key from transition_quarantine')).toEqual([{ key: '2' }])
  })

  it('because another row changed it in between, is left to the next sweep', async () => {
    const h = await openPosts()
    await h.sql(`create function touch() returns trigger language plpgsql as $$
      begin
        if pg_trigger_depth() = 1 then update "${h.schema}".posts set deleted_at = now() where id <> new.id; end if;
        return new;
      end $$`)
    await h.sql('create trigger touch before update on posts for each row execute function touch()')
    await h.declare({ fields: { publish_at: publish } })
    await h.sql(
      `insert into posts (id, status, publish_at) select n, 'draft', $1 from generate_series(1, 3) as n`,
      [at(-1)],
    )
    expect(await h.sweep()).toEqual({ ...nothing, updated: 1, skipped: 2, truncated: true })
    expect(await h.sweep()).toEqual({ ...nothing, updated: 1, skipped: 1, truncated: true })
    expect(await h.sweep()).toEqual({ ...nothing, updated: 1 })
  })

  it('because what is declared means nothing any more, keeps its table from being swept', async () => {
    const h = await openPosts()
    await h.sql(`create type stage as enum ('draft', 'out')`)
    await h.sql('alter table posts alter status type stage using status::stage')
    await h.declare({ fields: { publish_at: set('status', { from: 'draft', to: 'out' }) } })
    await h.sql(`alter type stage rename value 'out' to 'published'`)
    await h.sql(`insert into posts (id, status, publish_at) values (1, 'draft', $1), (2, 'draft', $1)`, [
      at(-1),
    ])
    const errors = [{ table: `${h.schema}.posts`, message: expect.stringContaining('"out"') }]
    expect(await h.transitions.sweep()).toMatchObject({ ...nothing, errors })
    expect(await h.sql('select * from transition_quarantine')).toEqual([])
  })

  it('because its column is gone, keeps its own table from being swept and no other', async () => {
    const { logger, lines } = keepingLogger()
    const h = await openPosts({ logger })
    await h.sql('create table notes (id integer primary key, status text, due_at timestamptz)')
    await h.declare({ fields: { publish_at: publish } })
    await h.declare({ fields: { due_at: set('status', { to: 'done' }) } }, 'notes')
    await h.sql(`insert into notes values (1, 'new', $1)`, [at(-1)])
    await h.sql('alter table posts drop column status')
    const report = await h.transitions.sweep()
    expect(report).toMatchObject({
      updated: 1,
      errors: [{ table: `${h.schema}.posts`, message: expect.stringContaining('status') }],
    })
    expect(lines).toEqual(['a table could not be swept; it is tried again'])
  })
})

describe("the user's own triggers", () => {
  it('see ordinary updates and deletes, and of columns that are not written nothing', async () => {
    const h = await openPosts()
    await h.sql('create table seen (what text)')
    await h.sql(`create function see() returns trigger language plpgsql as $$
      begin insert into "${h.schema}".seen values (tg_op || ' ' || tg_argv[0] || ' ' || old.id); return null; end $$`)
    await h.sql(
      `create trigger a after update of status on posts for each row execute function see('status')`,
    )
    await h.sql(
      `create trigger b after update of deleted_at on posts for each row execute function see('deleted_at')`,
    )
    await h.sql(`create trigger c after delete on posts for each row execute function see('row')`)
    await h.declare({
      softDelete: 'deleted_at',
      fields: { publish_at: publish, expires_at: softDelete(), purge_at: hardDelete() },
    })
    await h.sql(
      `insert into posts (id, status, publish_at, expires_at, purge_at) values (1, 'draft', $1, null, null), (2, 'draft', null, $1, null),
         (3, 'draft', $1, $1, null), (4, 'draft', $1, $1, $1)`,
      [at(-1)],
    )
    expect(await h.sweep()).toEqual({ ...nothing, updated: 3, deleted: 4 })
    expect(await h.sql('select what from seen order by what')).toEqual(
      [
        'DELETE row 4',
        'UPDATE deleted_at 2',
        'UPDATE deleted_at 3',
        'UPDATE status 1',
        'UPDATE status 3',
      ].map((what) => ({ what })),
    )
  })
})

describe('hooks', () => {
  it('are called once per change after the commit, in row order, with all there is to know', async () => {
    const changes: TransitionChange[] = []
    const short: unknown[] = []
    const events: TransitionChange[] = []
    const h = await openPosts()
    const counted: unknown[] = []
    await h.declare({
      softDelete: 'deleted_at',
      fields: { publish_at: publish, expires_at: softDelete(), purge_at: hardDelete() },
      async onApplied(change) {
        changes.push(change)
        // On the one session of the embedded database too: the transaction is over.
        counted.push(...(await h.sql('select count(*) from transition_log')))
      },
      onSet: (...told) => void short.push(told),
      onDelete: (...told) => void short.push(told),
    })
    h.escapement.on('transition.applied', (change) => events.push(change))
    await h.sql(
      `insert into posts (id, status, publish_at, expires_at, purge_at) values (1, 'draft', $1, null, null), (2, 'draft', null, $2, null), (3, 'draft', null, null, $3)`,
      [at(-3), at(-2), at(-1)],
    )
    await h.sweep()
    const table = `${h.schema}.posts`
    const appliedAt = new Date(NOON)
    expect(changes).toEqual([
      {
        table,
        key: { id: 1 },
        field: 'publish_at',
        action: 'set',
        column: 'status',
        from: 'draft',
        to: 'published',
        dueAt: at(-3),
        appliedAt,
      },
      {
        table,
        key: { id: 2 },
        field: 'expires_at',
        action: 'softDelete',
        column: 'deleted_at',
        from: null,
        to: appliedAt,
        dueAt: at(-2),
        appliedAt,
      },
      {
        table,
        key: { id: 3 },
        field: 'purge_at',
        action: 'hardDelete',
        column: null,
        from: null,
        to: null,
        dueAt: at(-1),
        appliedAt,
      },
    ])
    expect(counted).toEqual([{ count: 3 }, { count: 3 }, { count: 3 }])
    expect(short).toEqual([
      [table, { id: 1 }, 'status', 'published'],
      [table, { id: 2 }],
      [table, { id: 3 }],
    ])
    expect(events).toEqual(changes)
    await h.sweep()
    expect(changes).toHaveLength(3)
  })

  it('that throw are contained', async () => {
    const { logger, lines } = keepingLogger()
    let told = 0
    const h = await openPosts({
      logger,
      sweeper: {
        onApplied() {
          throw new Error('no')
        },
        onSet: async () => {
          told += 1
          throw new Error('no')
        },
      },
    })
    await h.declare({ fields: { publish_at: publish } })
    await h.sql(`insert into posts (id, status, publish_at) values (1, 'draft', $1), (2, 'draft', $1)`, [
      at(-1),
    ])
    expect(await h.transitions.sweep()).toMatchObject({ updated: 2, errors: [] })
    expect(told).toBe(2)
    expect(lines).toEqual(Array(4).fill('a hook of a transition threw'))
    expect(await h.sweep()).toEqual(nothing)
  })

  it('in the transaction write with it; one that fails rolls its table back and is reported, and other tables go on', async () => {
    let isFailing = true
    const applied: unknown[] = []
    const h = await openPosts()
    await h.sql('create table outbox (post integer, what text)')
    await h.sql('create table notes (id integer primary key, status text, due_at timestamptz)')
    await h.declare({
      fields: { publish_at: publish },
      async inTransaction(tx, changes) {
        for (const { key, to } of changes)
          await tx.query(`insert into "${h.schema}".outbox values ($1, $2)`, [key.id as number, String(to)])
        if (isFailing) throw new Error('the outbox is full')
      },
      onApplied: ({ key }) => applied.push(key),
    })
    await h.declare({ fields: { due_at: set('status', { to: 'done' }) } }, 'notes')
    await h.sql(`insert into posts (id, status, publish_at) values (1, 'draft', $1), (2, 'draft', $1)`, [
      at(-1),
    ])
    await h.sql(`insert into notes values (1, 'new', $1)`, [at(-1)])
    const table = `${h.schema}.posts`
    expect(await h.transitions.sweep()).toMatchObject({
      updated: 1,
      tables: [{ table, updated: 0 }, { updated: 1 }],
      errors: [{ table, message: 'inTransaction: the outbox is full' }],
    })
    expect(await h.sql('select * from outbox')).toEqual([])
    expect(await h.sql(`select count(*) from posts where status = 'draft'`)).toEqual([{ count: 2 }])
    expect(applied).toEqual([])
    isFailing = false
    expect(await h.transitions.sweep()).toMatchObject({ updated: 2, errors: [] })
    expect(await h.sql('select * from outbox order by post')).toEqual(
      [1, 2].map((post) => ({ post, what: 'published' })),
    )
    expect(applied).toEqual([{ id: 1 }, { id: 2 }])
  })

  it('in the transaction can enqueue a run, which then exists if the change does', async () => {
    const h = await openPosts()
    const announce = h.job('announce', { handler: () => {} })
    let isFailing = true
    await h.declare({
      fields: { publish_at: publish },
      async inTransaction(tx, changes) {
        const items = changes.map(({ key }) => ({ input: key.id }))
        await h.runs.enqueueMany(announce, items, { tx })
        if (isFailing) throw new Error('not yet')
      },
    })
    await h.sql(`insert into posts (id, status, publish_at) values (7, 'draft', $1)`, [at(-1)])
    await h.sweep()
    const runs = () => h.sql(`select state, input from runs where job = 'announce'`)
    expect(await runs()).toEqual([])
    isFailing = false
    await h.sweep()
    expect(await runs()).toEqual([{ input: 7, state: 'pending' }])
  })
})

describe('the log', () => {
  it('is pruned of rows that are gone or have another due time, after its age, and of no others', async () => {
    const h = await openPosts()
    const clock = createManualClock(Date.parse(NOON))
    const { escapement, sweeper } = await assemble({
      database: h.escapement.database,
      schema: h.schema,
      clock,
    })
    await escapement.transitions.declare(`${h.schema}.posts`, { fields: { publish_at: publish } })
    await h.sql(
      `insert into posts (id, status, publish_at) select n, 'draft', $1 from generate_series(1, 4) as n`,
      [at(-1)],
    )
    await h.sql(
      `create table parts (a text, b timestamptz, c bytea, d numeric, done boolean, due_at timestamptz, primary key (a, b, c, d))`,
    )
    await escapement.transitions.declare(`${h.schema}.parts`, {
      fields: { due_at: set('done', { to: true }) },
    })
    await h.sql(
      `insert into parts select 'it''s ' || n, '2026-01-01T00:00:00.123456Z', '\\xff00', n, false, $1 from generate_series(1, 2) as n`,
      [at(-1)],
    )
    await escapement.transitions.sweep()
    await h.sql('delete from parts where d = 1')
    await h.sql(`update posts set status = 'draft' where id = 1`)
    await h.sql(`update posts set publish_at = null where id = 2`)
    await h.sql('delete from posts where id = 3')
    const keys = () => h.sql('select key from transition_log order by key')
    await sweeper.prune()
    expect(await keys()).toHaveLength(6)
    clock.set(clock.now() + 91 * 86_400_000)
    await sweeper.prune()
    expect(await keys()).toEqual([
      { key: '1' },
      { key: '4' },
      { key: `["it's 2", "2026-01-01T00:00:00.123456Z", "\\\\xff00", "2"]` },
    ])
    expect(await escapement.transitions.sweep()).toMatchObject(nothing)
  })

  it('is pruned to its end, and of keys that only their hash stands for', async () => {
    const h = await openPosts(
      {},
      'create table things (id text primary key, status text, due_at timestamptz)',
    )
    await h.declare({ fields: { due_at: finish } }, 'things')
    await h.sql(
      `insert into things select n || repeat('x', 600), 'new', $1::timestamptz from generate_series(1, 2) as n
       union all select 'long key, sha256:' || n, 'new', $1::timestamptz from generate_series(1, 2) as n
       union all select 'sha256:' || n, 'new', $1::timestamptz from generate_series(1, 2) as n`,
      [at(-1)],
    )
    expect(await h.sweep()).toMatchObject({ updated: 6 })
    await h.sql(`delete from things where id like '1%' or id like '%:1'`)
    await h.sql(
      `insert into transition_log (field_id, key, due_at, applied_at, action)
       select f.id, 'gone ' || n, $1, $1, 'set' from transition_fields as f, generate_series(1, 5500) as n`,
      [at(-1)],
    )
    await h.sql(`update transition_log set applied_at = applied_at - interval '91 days'`)
    await (await pruner(h, 'things')).prune()
    expect(await h.sql('select count(*) from transition_log')).toEqual([{ count: 3 }])
    await h.sql(`update things set status = 'new'`)
    expect(await h.sweep()).toMatchObject({ updated: 0 })
  })

  it('of a key that had another type is listed, tidied up and pruned like that of any row that is gone', async () => {
    const h = await openPosts({}, THINGS)
    await h.declare({ fields: { due_at: finish } }, 'things')
    await h.sql(`insert into things values ('abc', 'new', $1), ('good', 'new', $1)`, [at(-1)])
    expect(await h.sweep()).toMatchObject({ updated: 1, quarantined: 1 })
    await h.sql('alter table things drop constraint things_pkey')
    await h.sql('alter table things add column number bigint generated always as identity primary key')
    const later = await pruner(h, 'things')
    expect(await later.list()).toMatchObject([{ due: 1, quarantined: 0 }])
    await h.sql(`update transition_log set applied_at = applied_at - interval '91 days'`)
    await later.prune()
    expect(await h.sql('select from transition_log')).toEqual([])
    expect(await h.sql('select from transition_quarantine')).toEqual([])
  })

  it('that is kept for ever leaves what was set aside to be tidied up: doctor and list count the same', async () => {
    const h = await openPosts({ sweeper: { retention: false } }, THINGS)
    await h.declare({ fields: { due_at: finish } }, 'things')
    await h.sql(
      `insert into things select key, 'new', $1 from unnest(array['bad', 'sha256:bad', repeat('bad', 300)]) as key`,
      [at(-1)],
    )
    expect(await h.sweep()).toMatchObject({ quarantined: 3 })
    expect(await h.transitions.list()).toMatchObject([{ quarantined: 3 }])
    expect(await h.escapement.doctor()).toMatchObject([{ detail: expect.stringMatching(/^3 rows/) }])
    await h.sql(`delete from things where id <> 'bad'`)
    expect(await h.transitions.list()).toMatchObject([{ quarantined: 1 }])
    expect(await h.escapement.doctor()).toMatchObject([{ detail: expect.stringMatching(/^1 row /) }])
    await h.sql('delete from things')
    expect(await h.escapement.doctor()).toEqual([])
  })
})

const finish = set('status', { to: 'done' })
const THINGS = `create table things (id text primary key, status text, due_at timestamptz, check (status <> 'done' or id = 'good'))`

/** Another process, which declares the table as it is now. */
async function pruner(h: Posts, table: string) {
  const clock = createManualClock(Date.parse(NOON))
  const { escapement, sweeper } = await assemble({
    database: h.escapement.database,
    schema: h.schema,
    clock,
  })
  await escapement.transitions.declare(`${h.schema}.${table}`, { fields: { due_at: finish } })
  return { prune: sweeper.prune, list: () => escapement.transitions.list() }
}
