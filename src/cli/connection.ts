import fs from 'node:fs'
import { userInfo } from 'node:os'
import path from 'node:path'
import { type Command, Option } from 'commander'
import type { EscapementConfig } from '../config.js'
import { EscapementError } from '../errors.js'
import { createEscapement, type Escapement } from '../escapement.js'
import { createHttpClient, type HttpClient } from '../http-client/index.js'
import type { DatabaseOption } from '../options.js'
import { createHandler } from '../server/handler.js'
import { readDirectoryLock } from '../store/directory-lock.js'
import type { DeclaredTable } from '../transitions/row-declaration.js'

export interface DatabaseFlags {
  database?: string
  directory: string
  schema?: string
}

export interface ConnectionFlags extends DatabaseFlags {
  url?: string
  token?: string
}

const DEFAULT_DIRECTORY = './.escapement'

/** `--database`, `--directory`, `--schema`: for commands that open a database themselves. */
export function withDatabaseFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--database <url>', 'PostgreSQL to use (default: $DATABASE_URL)').conflicts('directory'),
    )
    .addOption(new Option('--directory <path>', 'folder of the embedded database').default(DEFAULT_DIRECTORY))
    .option('--schema <name>', 'schema that holds the tables (default: "escapement")')
}

/** The same and `--url`: for commands that can also ask a running server. */
export function withConnectionFlags(command: Command): Command {
  return withDatabaseFlags(command)
    .addOption(
      new Option('--url <url>', 'server to ask (default: $ESCAPEMENT_URL)').conflicts([
        'database',
        'directory',
        'schema',
      ]),
    )
    .option('--token <token>', 'what opens that server (default: $ESCAPEMENT_TOKEN)')
}

/** What is on the command line beats the environment. */
function isGiven(command: Command, ...names: string[]): boolean {
  return names.some((name) => command.getOptionValueSource(name) === 'cli')
}

export function databaseOf({ database, directory }: DatabaseFlags, command: Command): DatabaseOption {
  if (database !== undefined) return database
  if (isGiven(command, 'directory')) return { directory }
  return process.env.DATABASE_URL ?? { directory }
}

/** The API, whether a server answers it or, for a database, this process. */
interface Connection {
  client: HttpClient
  close(): Promise<void>
}

/**
 * A server if one is named; else a database if one is named; else whatever runs on the folder, found by its lock
 * file; else the folder itself.
 */
async function connect(
  flags: ConnectionFlags,
  command: Command,
  config: () => Promise<EscapementConfig> = async () => ({}),
): Promise<Connection> {
  const isDatabaseNamed = isGiven(command, 'database', 'directory')
  const url = flags.url ?? (isDatabaseNamed ? undefined : process.env.ESCAPEMENT_URL)
  if (url !== undefined) return toServer(url, flags)
  const database = databaseOf(flags, command)
  if (typeof database === 'object' && 'directory' in database) {
    const owner = await readDirectoryLock(database.directory)
    if (owner?.url) return toServer(owner.url, flags)
    if (!fs.existsSync(path.join(database.directory, 'data'))) throw nothingThere(database.directory)
  }
  return toDatabase(database, flags.schema, await config())
}

function nothingThere(directory: string): EscapementError {
  return new EscapementError('directory_unusable', {
    message: `Nothing to ask: no server runs on ${directory}, and it holds no data. Start one with "escapement up", or name a --url or --database.`,
  })
}

/** Declares the transitions of a configuration. */
export async function declareAll({ transitions }: Escapement, config: EscapementConfig): Promise<void> {
  const given = config.transitions ?? {}
  const declared = Array.isArray(given)
    ? (given as readonly DeclaredTable[])
    : Object.entries(given).map(([table, declaration]) => ({ ...declaration, table }))
  for (const each of declared) {
    await transitions.declare(each)
  }
}

async function toDatabase(
  database: DatabaseOption,
  schema: string | undefined,
  config: EscapementConfig,
): Promise<Connection> {
  const escapement = await createEscapement({
    ...config.options,
    database,
    migrate: false,
    ...(schema === undefined ? {} : { schema }),
  })
  try {
    await declareAll(escapement, config)
  } catch (error) {
    await escapement.close()
    throw error
  }
  const handler = createHandler(escapement, {
    authenticate: () => ({ name: userInfo().username, role: 'admin' }),
  })
  return {
    client: createHttpClient({ url: 'http://localhost', fetch: handler, timeoutMs: LONGEST_TIMEOUT_MS }),
    close: () => escapement.close(),
  }
}

/** Nobody waits at the other end of a connection that may have gone. */
const LONGEST_TIMEOUT_MS = 2_147_483_647
/** An audit of a large database takes its time. */
const SERVER_TIMEOUT_MS = 600_000

function toServer(url: string, { token = process.env.ESCAPEMENT_TOKEN }: ConnectionFlags): Connection {
  const credentials = token === undefined ? {} : { token }
  return {
    client: createHttpClient({ url, timeoutMs: SERVER_TIMEOUT_MS, ...credentials }),
    close: async () => {},
  }
}

/** Asks, shows what came, and lets go, whatever happens. */
export async function withConnection(
  flags: ConnectionFlags,
  command: Command,
  work: (client: HttpClient) => Promise<void>,
  config?: () => Promise<EscapementConfig>,
): Promise<void> {
  const connection = await connect(flags, command, config)
  try {
    await work(connection.client)
  } catch (error) {
    throw explained(error)
  } finally {
    await connection.close()
  }
}

/** What to type instead, where it was the server that did not do. */
function explained(error: unknown): unknown {
  if (!(error instanceof EscapementError)) return error
  if (error.code === 'unauthorized') {
    return new EscapementError('unauthorized', {
      message:
        'A valid token is needed: give it with --token or ESCAPEMENT_TOKEN. Whoever has the database makes one with: escapement tokens create <name> --role admin --database <url>',
      cause: error,
    })
  }
  if (error.code === 'server_unreachable') {
    return new EscapementError('server_unreachable', {
      message: `${error.message} Start one with "escapement up", or name another --url.`,
      cause: error,
    })
  }
  return error
}
