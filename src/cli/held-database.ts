import { EscapementError } from '../errors.js'
import type { DatabaseOption } from '../options.js'
import { openPGlite } from '../store/pglite.js'

/** The database of a process, which outlives the configurations that work on it. */
export interface HeldDatabase {
  /** What each of them is given. */
  database: DatabaseOption
  /** For people. */
  name: string
  isEmbedded: boolean
  /** Says in the lock file where the server listens, so that a second terminal finds it. */
  tellUrl(url: string): Promise<void>
  /** Rejects when the embedded engine has stopped by itself: nothing can go on without it. */
  stopped: Promise<never>
  close(): Promise<void>
}

/** An embedded one is opened and locked once; of a server's, each configuration opens connections of its own. */
export async function holdDatabase(wanted: DatabaseOption, command: string): Promise<HeldDatabase> {
  const directory = typeof wanted === 'object' && 'directory' in wanted ? wanted.directory : undefined
  if (directory === undefined && wanted !== 'memory:') {
    return {
      database: wanted,
      name: 'PostgreSQL',
      isEmbedded: false,
      tellUrl: async () => {},
      stopped: new Promise(() => {}),
      close: async () => {},
    }
  }
  const embedded = await openPGlite(directory === undefined ? {} : { directory }).catch((error) => {
    throw command === 'up' ? error : besideAnother(error, command)
  })
  const stopped = embedded.stopped.then((error): never => {
    throw error
  })
  // It may happen before anybody waits for it.
  stopped.catch(() => {})
  return {
    database: embedded,
    name: `embedded database in ${directory ?? 'memory'}`,
    isEmbedded: true,
    tellUrl: async (url) => embedded.lock?.update({ url }),
    stopped,
    close: () => embedded.close(),
  }
}

/** Whoever starts a worker beside another process means to share. */
function besideAnother(error: unknown, command: string): unknown {
  if (!(error instanceof EscapementError) || error.code !== 'directory_in_use') return error
  const { directory, pid, url } = error.details
  return new EscapementError('directory_in_use', {
    message:
      `${directory} is in use by process ${pid}${url === null ? '' : ` (${url})`}, and an embedded database belongs to one process. ` +
      `A ${command} beside it needs PostgreSQL: name it with --database or DATABASE_URL, for both.`,
    details: error.details,
    cause: error,
  })
}
