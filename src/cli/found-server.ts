/**
 * The server that runs on a folder, as the lock file in it says. The folder may be anybody's, a clone or a shared one,
 * and a token goes wherever the file points: so it is believed only if it is ours and points to this machine.
 */
import fs from 'node:fs'
import path from 'node:path'
import { EscapementError } from '../errors.js'
import { readDirectoryLock } from '../store/directory-lock.js'

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/
/** One that listens everywhere listens on this machine too. */
const EVERYWHERE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' }
const ROOT_UID = 0

/** Undefined where none runs; `directory_unusable` where one says so that is not to be believed. */
export async function findServer(directory: string): Promise<string | undefined> {
  const owner = await readDirectoryLock(directory)
  if (!owner?.url) return undefined
  // Not through a link: that could be to any file of ours.
  const file = fs.lstatSync(path.join(directory, 'lock'), { throwIfNoEntry: false })
  const read = readFound({ url: owner.url, uid: file?.uid, ownUid: process.getuid?.() })
  if ('url' in read) return read.url
  throw new EscapementError('directory_unusable', {
    message: `The lock file in ${directory} is not believed: ${read.refused}. If you trust the server, name it with --url.`,
    details: { directory },
  })
}

/** Where the platform has no users by number, `ownUid` is undefined, and only the address counts. */
export function readFound({
  url,
  uid,
  ownUid,
}: {
  url: unknown
  uid: number | undefined
  ownUid: number | undefined
}): { url: string } | { refused: string } {
  if (ownUid !== undefined && uid !== ownUid && uid !== ROOT_UID) {
    return { refused: `it belongs to another user (uid ${uid ?? 'unknown'})` }
  }
  if (typeof url !== 'string' || !URL.canParse(url)) return { refused: 'it names no address' }
  const found = new URL(url)
  found.hostname = EVERYWHERE[found.hostname] ?? found.hostname
  if (found.protocol !== 'http:' && found.protocol !== 'https:') return { refused: 'it names no server' }
  if (!LOOPBACK.test(found.hostname)) return { refused: `it points to ${found.host}, beyond this machine` }
  return { url: found.href }
}
