import { eq } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { bigint, pgSchema, text, timestamp } from 'drizzle-orm/pg-core'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { fromDrizzle } from '../../src/adapters/drizzle.js'
import { fromPrisma } from '../../src/adapters/prisma.js'
import { createEscapement, hardDelete, type RowDeclaration, set, softDelete } from '../../src/index.js'
import { createPostgresDatabase, freshSchemaName } from '../support/database.js'
import { openPrisma } from './prisma-client.js'

async function openBlog() {
  const schema = freshSchemaName()
  const { url, drop } = await createPostgresDatabase()
  const escapement = await createEscapement({ database: url, schema })
  const { query } = escapement.database
  await query(`create type "${schema}".state as enum ('draft', 'published', 'archived')`)
  await query(`create table "${schema}"."Blog Posts" (id bigint primary key, state "${schema}".state not null, publish_at timestamptz,
    purge_at timestamptz, "deletedAt" timestamptz)`)
  await query(`insert into "${schema}"."Blog Posts" values (1, 'draft', now() - interval '1 hour', null), (2, 'draft', now() + interval '1 hour', null),
    (3, 'draft', null, now())`)
  onTestFinished(async () => {
    await escapement.close()
    await drop()
  })
  return { escapement, schema, url }
}

it('a table of Drizzle is declared in its own names and types', async () => {
  const { escapement, schema, url } = await openBlog()
  const blog = pgSchema(schema)
  const state = blog.enum('state', ['draft', 'published', 'archived'])
  const posts = blog.table('Blog Posts', {
    id: bigint({ mode: 'number' }).primaryKey(),
    status: state('state').notNull(),
    publishAt: timestamp('publish_at', { withTimezone: true }),
    purgeAt: timestamp('purge_at', { withTimezone: true, mode: 'string' }),
    deletedAt: timestamp({ withTimezone: true }),
    title: text(),
  })
  await escapement.transitions.declare(
    fromDrizzle(posts, {
      softDelete: 'deletedAt',
      fields: { publishAt: set('status', { from: 'draft', to: 'published' }), purgeAt: softDelete() },
    }),
  )
  expect(await escapement.transitions.sweep()).toMatchObject({ updated: 1, deleted: 1 })
  const pool = new pg.Pool({ connectionString: url })
  // Its database is dropped when it has ended, maybe before the server has heard of that.
  pool.on('error', () => {})
  onTestFinished(() => pool.end())
  const published = await drizzle(pool)
    .select({ id: posts.id })
    .from(posts)
    .where(eq(posts.status, 'published'))
  expect(published).toEqual([{ id: 1 }])

  const mistaken = () => [
    // @ts-expect-error a value that the enum does not have
    fromDrizzle(posts, { fields: { publishAt: set('status', { to: 'publishd' }) } }),
    // @ts-expect-error a column that the table does not have
    fromDrizzle(posts, { fields: { publishAt: set('state', { to: 'published' }) } }),
    // @ts-expect-error a column that cannot be null holds no due time
    fromDrizzle(posts, { fields: { status: hardDelete() } }),
  ]
  expect(mistaken).toBeTypeOf('function')
})

interface Post {
  id: bigint
  status: 'draft' | 'published' | 'archived'
  publishAt: Date | null
  purgeAt: Date | null
}

it('a model of Prisma is led to its table and columns', async () => {
  const { escapement, schema, url } = await openBlog()
  const field = (name: string, type: string, dbName?: string) => ({
    name,
    kind: 'scalar',
    type,
    ...(dbName && { dbName }),
  })
  const prisma = openPrisma(url, {
    Post: {
      dbName: 'Blog Posts',
      schema,
      fields: [
        field('id', 'BigInt'),
        field('status', 'State', 'state'),
        field('publishAt', 'DateTime', 'publish_at'),
        field('purgeAt', 'DateTime', 'purge_at'),
      ],
      uniqueFields: [],
      uniqueIndexes: [],
      primaryKey: null,
    } as never,
  })
  onTestFinished(() => prisma.$disconnect())
  const fields = { publishAt: set('status', { from: 'draft', to: 'published' }), purgeAt: hardDelete() }
  await escapement.transitions.declare(fromPrisma<Post>(prisma, 'Post', { fields }))
  expect(await escapement.transitions.sweep()).toMatchObject({ updated: 1, deleted: 1 })
  const [status] = await escapement.transitions.list()
  expect(status!.fields.map(({ field, column }) => [field, column])).toEqual([
    ['publish_at', 'state'],
    ['purge_at', null],
  ])

  expect(() => fromPrisma<Post>(prisma, 'Pots', { fields })).toThrow(
    'Prisma has no model "Pots" (did you mean "Post"?).',
  )
  const datamodel = { models: [{ name: 'Post', dbName: null, fields: [{ name: 'publishAt' }] }] }
  expect(fromPrisma<Post>(datamodel, 'Post', { fields: { publishAt: hardDelete() } })).toEqual({
    table: { table: 'Post' },
    fields: { publishAt: hardDelete() },
  })
  // @ts-expect-error a value that the model does not have
  const gone = { publishAt: set('status', { to: 'gone' }) } satisfies RowDeclaration<Post>['fields']
  expect(() => fromPrisma<Post>({}, 'Post', { fields: gone as object })).toThrow(/takes a Prisma client/)
})
