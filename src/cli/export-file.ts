/**
 * Files of exports. They hold inputs and hashes of tokens, so nobody else may read them; one that was not written whole never
 * has the name that was asked for.
 */
import { randomBytes } from 'node:crypto'
import { createReadStream, existsSync, statSync } from 'node:fs'
import { open, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { EscapementError } from '../errors.js'
import { syncFolder } from '../store/sync-to-disk.js'

export const STANDARD_STREAM = '-'

/** Before anything is asked of anybody: a move that cannot be written down must not begin. */
export function expectFree(file: string, isForced: boolean): void {
  if (file === STANDARD_STREAM) return
  if (file === '')
    throw new EscapementError('option_invalid', { message: '-o: the name of the file is empty.' })
  const found = statSync(file, { throwIfNoEntry: false })
  // What is renamed to it takes its place, and would that of a device too.
  if (found && !found.isFile()) {
    throw new EscapementError('option_invalid', {
      message: `${file} is no file that could be replaced. Choose another name, or write to standard output: -o -`,
    })
  }
  if (!isForced && found) {
    throw new EscapementError('option_invalid', {
      message: `${file} exists. Choose another name, or replace it with --force.`,
    })
  }
  const folder = path.dirname(path.resolve(file))
  if (existsSync(folder)) return
  throw new EscapementError('option_invalid', { message: `There is no folder ${folder}: create it first.` })
}

/** Compressed where the name ends in `.gz`. */
export async function writeExport(file: string, lines: AsyncIterable<Uint8Array>): Promise<void> {
  if (file === STANDARD_STREAM) return await print(lines)
  const draft = `${file}.${randomBytes(4).toString('hex')}.part`
  const handle = await open(draft, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new EscapementError('option_invalid', {
      message: `Cannot write ${file}: ${error.message}.`,
      cause: error,
    })
  })
  try {
    const save = (chunks: AsyncIterable<Uint8Array>) => writeFile(handle, chunks)
    if (file.endsWith('.gz')) await pipeline(lines, createGzip(), save)
    else await save(lines)
    await handle.sync()
    await handle.close()
    await rename(draft, file)
    syncFolder(path.dirname(path.resolve(file)))
  } catch (error) {
    await handle.close().catch(() => {})
    await rm(draft, { force: true })
    throw explainWriting(error, file)
  }
}

/** What the system refused of the file, such as the last bytes of a disk; any other error as it is. */
function explainWriting(error: unknown, file: string): unknown {
  const { code, syscall, message } = error as NodeJS.ErrnoException
  if (syscall === undefined || /^(EPIPE|ECONN)/.test(String(code))) return error
  return new EscapementError('option_invalid', {
    message: `Cannot write ${file}: ${message}. Had a move been done already, the same command gives it again.`,
    cause: error,
  })
}

async function print(lines: AsyncIterable<Uint8Array>): Promise<void> {
  // Of other commands whoever reads the beginning has what it wants. Of an export that is nothing, and no success.
  process.stdout.removeAllListeners('error')
  await pipeline(Readable.from(lines), process.stdout, { end: false }).catch((error) => {
    if (error.code !== 'EPIPE') throw error
    throw new EscapementError('cancelled', {
      message:
        'Whoever was to read the export has gone. Had a move been done already, the same command gives it again.',
      cause: error,
    })
  })
}

const GZIP = Buffer.from([0x1f, 0x8b])

/** Whether it is compressed is seen by how it begins, whatever it is called. */
export async function* readExportFile(file: string): AsyncGenerator<Uint8Array> {
  const bytes: AsyncIterable<Buffer> = file === STANDARD_STREAM ? process.stdin : createReadStream(file)
  try {
    yield* await unpacked(bytes[Symbol.asyncIterator]())
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (error instanceof EscapementError || code === undefined) throw error
    const problem = /^Z_|^ERR_/.test(code) ? `${file} was cut off or changed` : `Cannot read ${file}`
    throw new EscapementError('export_invalid', { message: `${problem} (${message}).`, cause: error })
  }
}

async function unpacked(bytes: AsyncIterator<Buffer>): Promise<AsyncIterable<Buffer>> {
  const first = await bytes.next()
  async function* all() {
    if (first.done) return
    yield first.value
    for (let next = await bytes.next(); !next.done; next = await bytes.next()) yield next.value
  }
  if (first.done || !first.value.subarray(0, GZIP.length).equals(GZIP)) return all()
  const unzip = createGunzip()
  // What goes wrong is heard by whoever reads.
  pipeline(Readable.from(all()), unzip).catch(() => {})
  return unzip
}
