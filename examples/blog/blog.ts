/**
 * A blog whose posts publish, archive and delete themselves: three due columns, one declaration, no cron.
 *
 *     npm run example:blog
 *
 * It needs no database: without DATABASE_URL it runs on PGlite, in memory.
 */
import { createEscapement, hardDelete, set, softDelete } from 'escapement'

const escapement = await createEscapement({ database: process.env.DATABASE_URL ?? 'memory:' })
const { database, transitions } = escapement

await database.query('create schema blog')
await database.query(`create table blog.posts (
  id integer generated always as identity primary key,
  title text not null,
  status text not null default 'draft' check (status in ('draft', 'published', 'archived')),
  publish_at timestamptz,
  archive_at timestamptz,
  expires_at timestamptz,
  purge_at timestamptz,
  deleted_at timestamptz
)`)

await transitions.declare('blog.posts', {
  softDelete: 'deleted_at',
  fields: {
    publish_at: set('status', { from: 'draft', to: 'published' }),
    archive_at: set('status', { to: 'archived' }),
    expires_at: softDelete(),
    purge_at: hardDelete(),
  },
  async onApplied({ key, field, action, from, to }) {
    const [post] = await database.query<{ title: string }>('select title from blog.posts where id = $1', [
      Number(key.id),
    ])
    const name = post ? `"${post.title}"` : `post ${key.id}`
    const did = { set: `${from} → ${to}`, softDelete: 'soft-deleted', hardDelete: 'deleted' }[action]
    console.log(`${field.padEnd(10)} ${name}: ${did}`)
  },
})

await database.query(`
  insert into blog.posts (title, publish_at, archive_at, expires_at, purge_at) values
    ('Hello', now() + interval '0.5 s', now() + interval '1.5 s', null, null),
    ('On sale today', now() + interval '1 s', null, now() + interval '2 s', now() + interval '2.5 s'),
    ('Forgotten for a week', now() - interval '7 days', now() - interval '1 day', null, null),
    ('Still a draft', null, null, null, null)`)

await escapement.start({ roles: ['sweeper'] })
while ((await transitions.list()).some(({ due, nextDueAt }) => due > 0 || nextDueAt !== null)) {
  await new Promise((resolve) => setTimeout(resolve, 50))
}
await escapement.stop()

console.log('\nwhat is left:')
const left = await database.query<{ title: string; status: string }>(
  'select title, status from blog.posts where deleted_at is null order by id',
)
for (const { title, status } of left) console.log(`${status.padEnd(10)} "${title}"`)

await database.query('drop schema blog cascade')
await escapement.close()
