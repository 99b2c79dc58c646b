import type { TransitionDeclaration } from '../../src/index.js'
import type { Connections, Database } from '../../src/store/database.js'
import { openDatabase } from '../../src/store/open.js'
import type { Harness, HarnessOptions } from '../../src/testing/harness.js'
import { createPostgresDatabase, sharedDatabase, target } from './database.js'
import { openHarness } from './harness.js'
import { useSchema } from './schema.js'

export const NOON = '2026-03-01T12:00:00Z'

/** Minutes from noon, as an instant. */
export const at = (minutes: number) => new Date(Date.parse(NOON) + minutes * 60_000)

export interface Posts extends Harness {
  schema: string
  /** Runs statements in which `posts` and other names are those of the test's own schema. */
  sql<Row = Record<string, unknown>>(
    text: string,
    params?: Parameters<Harness['escapement']['database']['query']>[1],
  ): Promise<Row[]>
  declare(declaration: TransitionDeclaration, table?: string): Promise<void>
  /** Each row in the order of its id, but for columns that are null. */
  rows(table?: string): Promise<Record<string, unknown>[]>
  /** What a sweep did, without its parts. */
  sweep(): Promise<{
    updated: number
    deleted: number
    skipped: number
    quarantined: number
    truncated: boolean
  }>
}

const POSTS = `create table posts (
  id integer primary key,
  status text,
  publish_at timestamptz,
  archive_at timestamptz,
  expires_at timestamptz,
  purge_at timestamptz,
  deleted_at timestamptz
)`

let onServer: ReturnType<typeof createPostgresDatabase> | undefined
let opened: Promise<Connections> | undefined

/** On a server, the database that the tests of a file share. */
export async function urlOfPosts(): Promise<string> {
  onServer ??= createPostgresDatabase()
  return (await onServer).url
}

async function databaseOfPosts(): Promise<Database> {
  if (target === 'pglite') return sharedDatabase()
  opened ??= urlOfPosts().then(openDatabase)
  return (await opened).outer
}

/** At the end of each file: files share modules, so that this one is loaded once for many. */
export async function removePosts(): Promise<void> {
  const [connections, database] = [await opened, await onServer]
  opened = undefined
  onServer = undefined
  await connections?.inner.close()
  await connections?.outer.close()
  await database?.drop()
}

/** A harness at noon with a table of posts. */
export async function openPosts(options: Partial<HarnessOptions> = {}, create = POSTS): Promise<Posts> {
  const shared = await databaseOfPosts()
  const h = await openHarness({ at: NOON, database: shared, schema: await useSchema(shared), ...options })
  const { database } = h.escapement
  const sql: Posts['sql'] = (text, params) =>
    database.transaction(async (tx) => {
      await tx.query(`set local search_path to "${h.schema}"`)
      return tx.query(text, params)
    })
  await sql(create)
  return {
    ...h,
    sql,
    declare: (declaration, table = 'posts') =>
      h.transitions.declare({ schema: h.schema, table }, declaration),
    rows: (table = 'posts') =>
      sql<{ row: Record<string, unknown> }>(
        `select jsonb_strip_nulls(to_jsonb(t)) as row from "${table}" as t order by 1`,
      ).then((found) => found.map(({ row }) => row)),
    async sweep() {
      const { tables: _, errors: __, ...counts } = await h.transitions.sweep()
      return counts
    },
  }
}
