import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import type { Database } from '../../src/store/database.js'
import { openDatabase } from '../../src/store/open.js'
import { openPGlite } from '../../src/store/pglite.js'
import { emptyDatabase } from './empty-database.js'

/** Which database this run of the suite is on. */
export const target = process.env.ESCAPEMENT_TEST_TARGET === 'postgres' ? 'postgres' : 'pglite'

/** The shared server, with sessions in a zone that is not UTC even where it is not our own. */
export function postgresUrl(): string {
  const url = new URL(inject('postgresUrl'))
  url.searchParams.set('options', '-c timezone=Pacific/Chatham')
  return url.href
}

/** A database of its own, whose sessions are in a zone that is not UTC. */
export async function openTestDatabase(): Promise<Database> {
  if (target === 'postgres') return (await openDatabase(postgresUrl())).outer
  const database = await openPGlite({ template: await emptyDatabase() })
  await database.query(`set time zone 'Pacific/Chatham'`)
  return database
}

let shared: Promise<Database> | undefined

/** One database for all tests of a file; each takes a schema of its own. */
export function sharedDatabase(): Promise<Database> {
  shared ??= openTestDatabase()
  return shared
}

/** The shared database, which a test has go wrong in some way. */
export async function alteredDatabase(alter: (shared: Database) => Partial<Database>): Promise<Database> {
  const shared = await sharedDatabase()
  return {
    kind: shared.kind,
    mode: shared.mode,
    canListen: shared.canListen,
    query: (text, params) => shared.query(text, params),
    transaction: (work) => shared.transaction(work),
    longTransaction: (work, limits) => shared.longTransaction(work, limits),
    session: (work) => shared.session(work),
    listen: (channel, listener) => shared.listen(channel, listener),
    holdLock: (key, onChange) => shared.holdLock(key, onChange),
    ...(shared.refuseInsideTransaction && {
      refuseInsideTransaction: () => shared.refuseInsideTransaction!(),
    }),
    close: async () => {},
    ...alter(shared),
  }
}

export function freshSchemaName(): string {
  return `test_${randomBytes(6).toString('hex')}`
}

/**
 * A database of its own on the shared server, and what drops it: an index that is built concurrently waits for every
 * transaction in its database, those of all other tests too.
 */
export async function createPostgresDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = freshSchemaName()
  const run = async (statement: string) => {
    const client = new pg.Client({ connectionString: postgresUrl() })
    await client.connect()
    await client.query(statement)
    await client.end()
  }
  await run(`create database ${name}`)
  const url = new URL(postgresUrl())
  url.pathname = `/${name}`
  return { url: url.href, drop: () => run(`drop database if exists ${name} with (force)`) }
}
