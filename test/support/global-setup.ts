import type { TestProject } from 'vitest/node'
import { type PostgresServer, startPostgres } from './postgres-server.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** A real PostgreSQL server, shared by all test files: each of them works in a schema of its own. */
    postgresUrl: string
  }
}

let server: Promise<PostgresServer> | undefined
let users = 0

/** One server for all projects of a run, or the one that ESCAPEMENT_TEST_DATABASE_URL names. */
export default async function setup(project: TestProject) {
  const given = process.env.ESCAPEMENT_TEST_DATABASE_URL
  if (given) {
    project.provide('postgresUrl', given)
    return
  }
  users += 1
  server ??= startPostgres({ fsync: false })
  project.provide('postgresUrl', (await server).url)
  return async () => {
    users -= 1
    if (users === 0) await (await server)?.remove()
  }
}
