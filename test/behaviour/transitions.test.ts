import { describe, expect, it } from 'vitest'
import { hardDelete, set, softDelete } from '../../src/index.js'
import { at, NOON, openPosts } from '../support/posts.js'

const nothing = { updated: 0, deleted: 0, skipped: 0, quarantined: 0, truncated: false }
const publish = set('status', { from: 'draft', to: 'published' })
const archive = set('status', { to: 'archived' })

describe('a sweep', () => {
  it.each([
    ['set', publish, { status: 'published' }, { ...nothing, updated: 3 }],
    ['softDelete', softDelete(), { status: 'draft', deleted_at: NOON }, { ...nothing, deleted: 3 }],
    ['hardDelete', hardDelete(), null, { ...nothing, deleted: 3 }],
  ])(
    '%s acts on what is due, exactly now included, and not on the future or null',
    async (_, action, done, counts) => {
      const h = await openPosts()
      await h.declare({ softDelete: 'deleted_at', fields: { publish_at: action } })
      await h.sql(
        `insert into posts (id, status, publish_at) values (1, 'draft', $1), (2, 'draft', $2), (3, 'draft', null),
         (4, 'draft', $3), (5, 'draft', '-infinity'), (6, 'draft', 'infinity'), (7, 'draft', $2::timestamptz + interval '1 microsecond')`,
        [at(-60), at(0), at(1)],
      )
      expect(await h.sweep()).toEqual(counts)
      const rows = await h.sql(
        `select id, status, to_char(deleted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as deleted_at from posts order by id`,
      )
      const expected = [1, 2, 3, 4, 5, 6, 7].flatMap((id) => {
        const isDue = [1, 2, 5].includes(id)
        if (isDue && done === null) return []
        return [{ id, status: 'draft', deleted_at: null, ...(isDue && done) }]
      })
      expect(rows).toEqual(expected)
      expect(await h.sweep()).toEqual(nothing)
    },
  )

  it('tells of times that no Date holds by those that one does', async () => {
    const told: Date[] = []
    const h = await openPosts()
    await h.declare({ fields: { publish_at: publish }, onApplied: ({ dueAt }) => told.push(dueAt) })
    await h.sql(
      `insert into posts (id, status, publish_at) values (1, 'draft', '-infinity'), (2, 'draft', '0044-03-15T00:00:00Z BC'),
         (3, 'draft', '290000-01-01'), (4, 'draft', 'infinity')`,
    )
    expect(await h.sweep()).toEqual({ ...nothing, updated: 2 })
    expect(told).toEqual([new Date(-8.64e15), new Date('-000043-03-15T00:00:00Z')])
    expect(await h.transitions.list()).toMatchObject([{ nextDueAt: null, fields: [{ nextDueAt: null }] }])
    await h.sql(`insert into posts (id, status, publish_at) values (5, 'draft', $1)`, [at(1)])
    expect(await h.transitions.list()).toMatchObject([{ nextDueAt: at(1) }])
  })

  it('leaves rows alone that have something else than from; without from, NULL counts as different', async () => {
    const h = await openPosts()
    await h.declare({ fields: { publish_at: publish, archive_at: archive } })
    await h.sql(
      `insert into posts (id, status, publish_at, archive_at) values (1, 'review', $1, null), (2, null, $1, null),
         (3, null, null, $1), (4, 'archived', null, $1), (5, 'review', null, $1)`,
      [at(-1)],
    )
    expect(await h.sweep()).toEqual({ ...nothing, updated: 2 })
    expect(await h.sql('select id, status from posts order by id')).toEqual([
      { id: 1, status: 'review' },
      { id: 2, status: null },
      { id: 3, status: 'archived' },
      { id: 4, status: 'archived' },
      { id: 5, status: 'archived' },
    ])
  })

  it('takes a batch, those first that have waited longest, and then the remainder; truncated only when rows are left', async () => {
    const h = await openPosts({ sweeper: { batchSize: 4 } })
    await h.declare({
      fields: { publish_at: publish, archive_at: set('status', { from: 'open', to: 'archived' }) },
    })
    await h.sql(
      `insert into posts (id, status, publish_at, archive_at)
       select n, case when n % 2 = 0 then 'draft' else 'open' end, case when n % 2 = 0 then $1::timestamptz - n * interval '1 second' end,
         case when n % 2 = 1 then $1::timestamptz - n * interval '1 second' end
       from generate_series(1, 8) as n`,
      [at(0)],
    )
    expect(await h.sweep()).toEqual({ ...nothing, updated: 4, truncated: true })
    const done = `select id from posts where status in ('published', 'archived') order by id`
    expect(await h.sql(done)).toEqual([{ id: 5 }, { id: 6 }, { id: 7 }, { id: 8 }])
    expect(await h.sweep()).toEqual({ ...nothing, updated: 4 })
    expect(await h.sweep()).toEqual(nothing)
  })

  it('follows a chain that ends where it began', async () => {
    const h = await openPosts()
    await h.declare({
      fields: { publish_at: publish, archive_at: set('status', { from: 'published', to: 'draft' }) },
    })
    await h.sql(`insert into posts (id, status, publish_at, archive_at) values (1, 'draft', $1, $2)`, [
      at(-2),
      at(-1),
    ])
    expect(await h.sweep()).toEqual({ ...nothing, updated: 2 })
    expect(await h.sweep()).toEqual(nothing)
  })

  it('follows a chain to its end in the order of the due times, and logs each step', async () => {
    const h = await openPosts()
    await h.declare({
      softDelete: 'deleted_at',
      fields: {
        archive_at: set('status', { from: 'published', to: 'archived' }),
        publish_at: publish,
        expires_at: softDelete(),
      },
    })
    await h.sql(
      `insert into posts (id, status, publish_at, archive_at, expires_at) values
         (1, 'draft', $1, $2, null), (2, 'draft', $2, $1, null), (3, 'draft', $2, null, $1), (4, 'draft', $1, $1, $2)`,
      [at(-2), at(-1)],
    )
    const { errors, tables, ...counts } = await h.transitions.sweep()
    expect(counts).toEqual({ ...nothing, updated: 6, deleted: 2 })
    expect(
      await h.sql('select id, status, deleted_at is not null as deleted from posts order by id'),
    ).toEqual([
      { id: 1, status: 'archived', deleted: false },
      // Published only after it was to be archived: it is archived then.
      { id: 2, status: 'archived', deleted: false },
      { id: 3, status: 'draft', deleted: true },
      { id: 4, status: 'archived', deleted: true },
    ])
    const log = `select l.key, f.field, l.from_value, l.to_value, l.action, l.actor from transition_log as l
      join transition_fields as f on f.id = l.field_id where l.key in ('1', '4') and action = 'set' order by l.key, l.to_value desc`
    expect(await h.sql(log)).toEqual(
      ['1', '4'].flatMap((key) => [
        { key, field: 'publish_at', from_value: 'draft', to_value: 'published', action: 'set', actor: null },
        {
          key,
          field: 'archive_at',
          from_value: 'published',
          to_value: 'archived',
          action: 'set',
          actor: null,
        },
      ]),
    )
    expect(await h.sweep()).toEqual(nothing)
  })

  it('two fields due on one row, set then delete, do not poison the batch', async () => {
    const h = await openPosts()
    await h.declare({ fields: { publish_at: publish, purge_at: hardDelete() } })
    await h.sql(
      `insert into posts (id, status, publish_at, purge_at) values (1, 'draft', $1, $2), (2, 'draft', $2, $1), (3, 'draft', $1, null)`,
      [at(-2), at(-1)],
    )
    expect(await h.sweep()).toEqual({ ...nothing, updated: 2, deleted: 2 })
    expect(await h.sql('select id, status from posts')).toEqual([{ id: 3, status: 'published' }])
  })

  it('rows that are soft-deleted are due for hardDelete only', async () => {
    const h = await openPosts()
    await h.declare({
      softDelete: 'deleted_at',
      fields: { publish_at: publish, expires_at: softDelete(), purge_at: hardDelete() },
    })
    await h.sql(
      `insert into posts (id, status, publish_at, expires_at, purge_at, deleted_at) values (1, 'draft', $1, $1, null, $1),
         (2, 'draft', $1, $1, $1, $1)`,
      [at(-1)],
    )
    expect(await h.sweep()).toEqual({ ...nothing, deleted: 1 })
    expect(await h.sql('select id, status, deleted_at from posts')).toEqual([
      { id: 1, status: 'draft', deleted_at: at(-1) },
    ])
  })

  it('soft-deletes by a flag as by a timestamp', async () => {
    const h = await openPosts(
      {},
      'create table notes (id uuid primary key, gone boolean, ends_at timestamptz)',
    )
    await h.declare({ softDelete: 'gone', fields: { ends_at: softDelete() } }, 'notes')
    await h.sql(
      `insert into notes select gen_random_uuid(), gone, $1 from unnest('{true, false, null}'::boolean[]) as gone`,
      [at(0)],
    )
    expect(await h.sweep()).toEqual({ ...nothing, deleted: 2 })
    expect(await h.sql('select gone, count(*) from notes group by gone')).toEqual([{ gone: true, count: 3 }])
  })

  it('compares due times to the microsecond', async () => {
    const h = await openPosts()
    await h.declare({ fields: { archive_at: archive, publish_at: set('status', { to: 'published' }) } })
    await h.sql(
      `insert into posts (id, status, publish_at, archive_at) values
         (1, 'draft', '2026-03-01T11:00:00.000002Z', '2026-03-01T11:00:00.000001Z'),
         (2, 'draft', '2026-03-01T11:00:00.000001Z', '2026-03-01T11:00:00.000002Z')`,
    )
    await h.sweep()
    expect(await h.sql('select status from posts order by id')).toEqual([
      { status: 'published' },
      { status: 'archived' },
    ])
    expect(
      await h.sql(
        `select distinct extract(microseconds from due_at)::int as us from transition_log order by 1`,
      ),
    ).toEqual([{ us: 1 }, { us: 2 }])
  })

  it('does not flip a row again for the same due time that a person moved back; a new due time works', async () => {
    const h = await openPosts()
    await h.declare({ fields: { publish_at: publish } })
    await h.sql(`insert into posts (id, status, publish_at) values (1, 'draft', $1)`, [at(-1)])
    await h.sweep()
    await h.sql(`update posts set status = 'draft'`)
    expect(await h.sweep()).toEqual(nothing)
    expect(await h.transitions.list()).toMatchObject([{ due: 0, nextDueAt: null }])
    await h.sql(`update posts set publish_at = publish_at + interval '1 microsecond'`)
    expect(await h.sweep()).toEqual({ ...nothing, updated: 1 })
    expect(await h.rows()).toMatchObject([{ status: 'published' }])
  })

  it('without declarations is a runner that does nothing', async () => {
    const h = await openPosts()
    expect(await h.transitions.sweep()).toEqual({ ...nothing, tables: [], errors: [] })
    expect(await h.transitions.list()).toEqual([])
    await h.escapement.start({ roles: ['sweeper'] })
    await h.escapement.start({ roles: ['sweeper'] })
    await h.escapement.stop()
  })
})
