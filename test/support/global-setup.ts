import type { TestProject } from 'vitest/node'
import { type PostgresServer, startPostgres } from './postgres-server.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** A real PostgreSQL server, shared by all test files: each of them works in a schema of its own. */
    postgresUrl: string
  }
}

const servers = new Map<boolean, { server: Promise<PostgresServer>; users: number }>()

/**
 * One server for all projects of a run, of the newest version, and one of the oldest for the project that asks for
 * it; or the one that ESCAPEMENT_TEST_DATABASE_URL names.
 */
export default async function setup(project: TestProject) {
  const given = process.env.ESCAPEMENT_TEST_DATABASE_URL
  if (given) {
    project.provide('postgresUrl', given)
    return
  }
  const oldest = project.name === 'postgres-15'
  const shared = servers.get(oldest) ?? { server: startPostgres({ fsync: false, oldest }), users: 0 }
  servers.set(oldest, shared)
  shared.users += 1
  const server = await shared.server
  project.provide('postgresUrl', server.url)
  return async () => {
    shared.users -= 1
    if (shared.users === 0) await server.remove()
  }
}
