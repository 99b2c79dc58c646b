/**
 * What an embedded database keeps in its directory: `data/` is the engine's own; `lock`, `lock.sock` and
 * `lock.guard` belong to `directory-lock.ts`; `data.incomplete` stands while `data/` is being created, so that a process
 * killed half-way leaves nothing that looks like a database.
 */
import { access, constants, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { EscapementError } from '../errors.js'
import { syncFolder } from './sync-to-disk.js'

/** The major version of PostgreSQL inside PGlite; a folder of another one cannot be opened. */
export const ENGINE_MAJOR = '18'

export interface DataDirectory {
  path: string
  /** Whether there is no database yet. */
  isNew: boolean
}

export async function ensureDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw unusable(directory, accessProblem(error as NodeJS.ErrnoException), error)
  }
}

/** Looks at `data/` before the engine does, which would answer most of this with an empty message. Needs the lock. */
export async function inspectDataDirectory(directory: string): Promise<DataDirectory> {
  const path = join(resolve(directory), 'data')
  const incomplete = join(directory, 'data.incomplete')
  const entries = await readdir(directory)
  if (entries.includes('data.incomplete')) await rm(path, { recursive: true, force: true })
  else if (entries.includes('data')) {
    await checkVersion(directory, path)
    return { path, isNew: false }
  }
  await writeFile(incomplete, '')
  syncFolder(directory)
  return { path, isNew: true }
}

/** To be called when a new database is whole and synced. */
export async function markComplete(directory: string): Promise<void> {
  await rm(join(directory, 'data.incomplete'), { force: true })
  syncFolder(directory)
}

/** One line for whatever the engine said, or did not say, when it could not open the folder. */
export function damaged(directory: string, cause: unknown): EscapementError {
  const reason = cause instanceof Error && cause.message ? `: ${firstLine(cause.message)}` : ''
  return unusable(
    directory,
    `does not hold a database that can be opened${reason}. Restore it from a backup, or choose another directory.`,
    cause,
  )
}

/** What could not be created is begun anew by the next who opens the directory. */
export function notCreated(directory: string, cause: unknown): EscapementError {
  const reason = cause instanceof Error ? firstLine(cause.message) : String(cause)
  return unusable(directory, `cannot take a new database: ${reason}.`, cause)
}

async function checkVersion(directory: string, path: string): Promise<void> {
  let version: string
  try {
    version = (await readFile(join(path, 'PG_VERSION'), 'utf8')).trim()
  } catch (error) {
    throw damaged(directory, error)
  }
  if (version === ENGINE_MAJOR) return
  throw unusable(
    directory,
    `was written by PostgreSQL ${version}, and this program embeds PostgreSQL ${ENGINE_MAJOR}. ` +
      'Export it with the version of Escapement that wrote it, or choose another directory.',
  )
}

function accessProblem({ code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'EEXIST':
    case 'ENOTDIR':
      return 'is not a directory: there is a file in its place. Choose another directory.'
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'cannot be written by this user. Change its permissions, or choose another directory.'
    default:
      return `cannot be used: ${message}. Choose another directory.`
  }
}

function unusable(directory: string, problem: string, cause?: unknown): EscapementError {
  return new EscapementError('directory_unusable', {
    message: `${directory} ${problem}`,
    details: { directory },
    cause,
  })
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]!.replace(/\.$/, '')
}
