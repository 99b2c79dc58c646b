/**
 * The exclusive lock on the directory of an embedded database. PGlite takes none, and two engines on one folder
 * destroy it without a word.
 *
 * The owner listens on a Unix domain socket in the directory (`lock.sock`; a named pipe on Windows); whoever can
 * connect knows that the directory is in use. The kernel closes the socket with the process, so SIGKILL frees the
 * lock, a pid that was given to another process deceives nobody, and containers that share the volume see each other.
 * Hosts that share it over a network do not.
 *
 * `lock` beside it says who the owner is. It is written before the owner listens, so whoever could connect reads it
 * whole; without a listening owner it means nothing.
 *
 * Looking and taking are two steps. They happen under `lock.guard`, a folder that only one process can make.
 */
import { createHash, randomUUID } from 'node:crypto'
import {
  mkdir,
  mkdtemp,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { EscapementError } from '../errors.js'

export interface DirectoryOwner {
  pid: number
  startedAt: Date
  /** Where its server listens; null while it has none. */
  url: string | null
}

export interface DirectoryLock {
  /** Tells others where the owner can be reached. */
  update(facts: { url: string | null }): Promise<void>
  release(): Promise<void>
}

/** Takes the lock on an existing directory, or rejects with `directory_in_use`. */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const real = await realpath(directory)
  return await underGuard(real, async (startedAt) => {
    if (await isHeld(real)) throw inUse(directory, await readOwner(real))
    const owner: DirectoryOwner = { pid: process.pid, startedAt, url: null }
    await writeOwner(real, owner)
    const server = await listen(real)
    return {
      async update({ url }) {
        owner.url = url
        await writeOwner(real, owner)
      },
      async release() {
        await rm(join(real, 'lock'), { force: true })
        // Also removes the socket's file, before it stops listening.
        await new Promise((resolve) => server.close(resolve))
      },
    }
  })
}

/** Who holds the directory at this moment; null when it is free or does not exist. */
export async function readDirectoryLock(directory: string): Promise<DirectoryOwner | null> {
  const real = await realpath(directory).catch(() => null)
  return real !== null && (await isHeld(real)) ? await readOwner(real) : null
}

function inUse(directory: string, owner: DirectoryOwner | null): EscapementError {
  const who = owner ? `process ${owner.pid}` : 'another process'
  const where = owner?.url ? ` (${owner.url})` : ''
  return new EscapementError('directory_in_use', {
    message: `${directory} is in use by ${who}${where}. Talk to that one, stop it, or choose another directory.`,
    details: { directory, pid: owner?.pid ?? null, url: owner?.url ?? null },
  })
}

async function readOwner(real: string): Promise<DirectoryOwner | null> {
  try {
    const { pid, startedAt, url } = JSON.parse(await readFile(join(real, 'lock'), 'utf8'))
    return { pid, startedAt: new Date(startedAt), url }
  } catch {
    // Released between the two looks.
    return null
  }
}

/** By renaming, so that a reader never sees half of it. */
async function writeOwner(real: string, owner: DirectoryOwner): Promise<void> {
  const draft = join(real, `lock.${randomUUID()}`)
  await writeFile(draft, `${JSON.stringify(owner)}\n`)
  await rename(draft, join(real, 'lock'))
}

// Shorter than what any kernel allows for the path of a socket (104 bytes on some).
const LONGEST_SOCKET_PATH = 100

/**
 * Where the owner listens: a socket in the directory, so that whoever sees the directory sees the lock. Where that
 * path is too long it goes through a short link to the directory; a pipe on Windows.
 */
async function socketPath(real: string): Promise<string> {
  const name = `escapement-${createHash('sha256').update(real).digest('hex').slice(0, 24)}`
  if (process.platform === 'win32') return `\\\\.\\pipe\\${name}`
  const path = join(real, 'lock.sock')
  if (Buffer.byteLength(path) <= LONGEST_SOCKET_PATH) return path
  const link = join(tmpdir(), name)
  await symlink(real, link).catch(() => {})
  if ((await readlink(link).catch(() => null)) !== real)
    throw notLockable(real, new Error(`${link} is in the way`))
  return join(link, 'lock.sock')
}

async function isHeld(real: string): Promise<boolean> {
  return await accepts(await socketPath(real))
}

function accepts(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(false)
      // The queue of connections is full: somebody listens.
      else if (error.code === 'EAGAIN') resolve(true)
      // The owner died with our connection in its queue: nobody listens there a moment later.
      else if (error.code === 'ECONNRESET') resolve(accepts(path))
      else reject(notLockable(path, error))
    })
  })
}

async function listen(real: string): Promise<Server> {
  const path = await socketPath(real)
  return await listenAt(path).catch((error) => {
    throw notLockable(path, error)
  })
}

async function listenAt(path: string): Promise<Server> {
  // Left behind by a process that was killed: nobody accepted there, and the guard keeps others out.
  if (process.platform !== 'win32') await rm(path, { force: true })
  const server = createServer((socket) => socket.on('error', () => {}).destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  server.on('error', () => {})
  return server.unref()
}

function notLockable(path: string, cause: Error): EscapementError {
  return new EscapementError('directory_unusable', {
    message: `Cannot lock ${path}: ${cause.message}. Choose another directory.`,
    details: { directory: path },
    cause,
  })
}

// Looking and taking last milliseconds; a guard this old was left by a process that died in between.
const GUARD_EXPIRES_MS = 10_000
const GUARD_RETRY_MS = 20

async function underGuard<T>(real: string, work: (now: Date) => Promise<T>): Promise<T> {
  const guard = join(real, 'lock.guard')
  while (!(await make(guard))) {
    await removeExpired(real, guard)
    await sleep(GUARD_RETRY_MS)
  }
  try {
    return await work((await stat(guard)).mtime)
  } finally {
    await rmdir(guard)
  }
}

async function make(folder: string): Promise<boolean> {
  try {
    await mkdir(folder)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function removeExpired(real: string, guard: string): Promise<void> {
  // Both times are the file system's, so that a host with a wrong clock neither steals nor waits for ever.
  const mine = await mkdtemp(join(real, 'lock.guard-'))
  try {
    const now = (await stat(mine)).mtimeMs
    const expired = async (folder: string) => now - (await stat(folder)).mtimeMs > GUARD_EXPIRES_MS
    if (!(await expired(guard))) return
    // Two may find it expired; the slower one moves a guard that the faster one has just made, and gives it back.
    const moved = join(mine, 'expired')
    await rename(guard, moved)
    if (!(await expired(moved))) await rename(moved, guard)
  } catch (error) {
    // It was removed, or taken, between two of these steps: look again.
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error
  } finally {
    await rm(mine, { recursive: true, force: true })
  }
}
