import fs from 'node:fs'
import { userInfo } from 'node:os'
import path from 'node:path'
import { type Command, Option } from 'commander'
import { EscapementError } from '../errors.js'
import { createHttpClient, type HttpClient } from '../http-client/index.js'
import type { DatabaseOption } from '../options.js'
import type { LoadedConfig } from './config-file.js'
import { findServer } from './found-server.js'
import { createPrintLogger } from './print-logger.js'

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
/** The heading of these flags in the help. */
export const CONNECTION_HEADING = 'Whom it asks:'

/** `--database`, `--directory`, `--schema`: for commands that open a database themselves. */
export function withDatabaseFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--database <url>', 'PostgreSQL to use (default: $DATABASE_URL)')
        .conflicts('directory')
        .helpGroup(CONNECTION_HEADING),
    )
    .addOption(
      new Option('--directory <path>', 'folder of the embedded database')
        .default(DEFAULT_DIRECTORY)
        .helpGroup(CONNECTION_HEADING),
    )
    .addOption(
      new Option('--schema <name>', 'schema that holds the tables (default: "escapement")').helpGroup(
        CONNECTION_HEADING,
      ),
    )
}

/** The same and `--url`: for commands that can also ask a running server. */
export function withConnectionFlags(command: Command): Command {
  return withDatabaseFlags(command)
    .addOption(
      new Option('--url <url>', 'server to ask (default: $ESCAPEMENT_URL)')
        .conflicts(['database', 'directory', 'schema'])
        .helpGroup(CONNECTION_HEADING),
    )
    .addOption(
      new Option('--token <token>', 'what opens that server (default: $ESCAPEMENT_TOKEN)').helpGroup(
        CONNECTION_HEADING,
      ),
    )
}

/** What is on the command line beats the environment. */
function isGiven(command: Command, ...names: string[]): boolean {
  return names.some((name) => command.getOptionValueSource(name) === 'cli')
}

export function databaseOf({ database, directory }: DatabaseFlags, command: Command): DatabaseOption {
  if (database !== undefined) return database
  if (isGiven(command, 'directory')) return { directory }
  // One that is set to nothing is none, as in files of containers.
  return process.env.DATABASE_URL || { directory }
}

/** The API, whether a server answers it or, for a database, this process. */
interface Connection {
  client: HttpClient
  /** How to make a token for it without having one. */
  tokenHint: string
  close(): Promise<void>
}

const CREATE = 'escapement tokens create <name> --role admin'
/** An embedded database belongs to the process that runs on it. */
const embeddedHint = (directory: string) =>
  `Stop the server, then make one with: ${CREATE} --directory ${directory}`
const ANY_DATABASE_HINT = `Whoever has the database makes one with: ${CREATE} --database <url>, or for an embedded one, once the server is stopped, with --directory <path>`

/**
 * A server if one is named; else a database if one is named; else whatever runs on the folder, found by its lock
 * file; else the folder itself.
 */
async function connect(
  flags: ConnectionFlags,
  command: Command,
  config: () => Promise<LoadedConfig> = async () => ({}),
): Promise<Connection> {
  const isDatabaseNamed = isGiven(command, 'database', 'directory')
  const url = flags.url ?? (isDatabaseNamed ? undefined : process.env.ESCAPEMENT_URL || undefined)
  if (url !== undefined) return toServer(url, flags)
  const database = databaseOf(flags, command)
  if (typeof database === 'object' && 'directory' in database) {
    const found = await findServer(database.directory)
    if (found !== undefined) return toServer(found, flags, embeddedHint(database.directory))
    if (!fs.existsSync(path.join(database.directory, 'data'))) throw nothingThere(database.directory)
  }
  return toDatabase(database, flags.schema, await config())
}

function nothingThere(directory: string): EscapementError {
  return new EscapementError('directory_unusable', {
    message: `Nothing to ask: no server runs on ${directory}, and it holds no data. Start one with "escapement up", or name a --url or --database.`,
  })
}

async function toDatabase(
  database: DatabaseOption,
  schema: string | undefined,
  config: LoadedConfig,
): Promise<Connection> {
  // Whoever asks a server need not wait until all of this is loaded.
  const [{ createEscapement }, { createHandler }, { declareAll }] = await Promise.all([
    import('../escapement.js'),
    import('../server/handler.js'),
    import('./declaring.js'),
  ])
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
    authenticate: () => ({ name: ownName(), role: 'admin' }),
    // To the caller it only says that the log has it.
    logger: createPrintLogger('error'),
  })
  return {
    // Nobody waits at the other end of a connection that may have gone.
    client: createHttpClient({
      url: 'http://localhost',
      fetch: handler,
      timeoutMs: Number.POSITIVE_INFINITY,
    }),
    tokenHint: ANY_DATABASE_HINT,
    close: () => escapement.close(),
  }
}

/** A user of a container often has a number alone. */
function ownName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.()}`
  }
}

/** An audit of a large database takes its time. */
const SERVER_TIMEOUT_MS = 600_000

/** The token of the environment goes to a server that was named, or that was found and is ours: to no other. */
function toServer(url: string, flags: ConnectionFlags, tokenHint = ANY_DATABASE_HINT): Connection {
  const token = flags.token ?? (process.env.ESCAPEMENT_TOKEN || undefined)
  const credentials = token === undefined ? {} : { token }
  return {
    tokenHint,
    client: createHttpClient({ url, timeoutMs: SERVER_TIMEOUT_MS, ...credentials }),
    close: async () => {},
  }
}

/** Asks, shows what came, and lets go, whatever happens. */
export async function withConnection(
  flags: ConnectionFlags,
  command: Command,
  work: (client: HttpClient, connection: Pick<Connection, 'tokenHint'>) => Promise<void>,
  config?: () => Promise<LoadedConfig>,
): Promise<void> {
  const connection = await connect(flags, command, config)
  try {
    await work(connection.client, connection)
  } catch (error) {
    throw explained(error, connection)
  } finally {
    await connection.close()
  }
}

/** What to type instead, where it was the server that did not do. */
function explained(error: unknown, { tokenHint }: Connection): unknown {
  if (!(error instanceof EscapementError)) return error
  if (error.code === 'unauthorized') {
    return new EscapementError('unauthorized', {
      message: `A valid token is needed: give it with --token or ESCAPEMENT_TOKEN. ${tokenHint}`,
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
