import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import type { Database } from '../../src/store/database.js'
import { openDatabase } from '../../src/store/open.js'

/** Which database this run of the suite is on. */
export const target = process.env.ESCAPEMENT_TEST_TARGET === 'postgres' ? 'postgres' : 'pglite'

/** What `createEscapement` and `createHarness` take for `database` here. */
export const testDatabase: string = target === 'postgres' ? postgresUrl() : 'memory:'

/** The shared server, with sessions in a zone that is not UTC even where it is not our own. */
export function postgresUrl(): string {
  const url = new URL(inject('postgresUrl'))
  url.searchParams.set('options', '-c timezone=Pacific/Chatham')
  return url.href
}

export async function openTestDatabase(): Promise<Database> {
  return openDatabase(testDatabase)
}

export function freshSchemaName(): string {
  return `test_${randomBytes(6).toString('hex')}`
}
