import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const BLOCK = 512
const FOLDER = '5'
const FILE = '0'

/**
 * Writes the files of a tar archive, as `dump()` makes them, into a folder that does not exist yet. The engine could
 * do it, through its own file system and in its own memory, of which it gives none back.
 */
export function unpack(archive: ArrayBuffer, folder: string): void {
  mkdirSync(folder, { mode: 0o700 })
  const bytes = Buffer.from(archive)
  let position = 0
  // The end is marked by empty blocks.
  while (position + BLOCK <= bytes.length && bytes[position] !== 0) {
    const header = bytes.subarray(position, position + BLOCK)
    const [name, size, type] = [text(header, 0, 100), number(header, 124, 12), text(header, 156, 1)]
    const begin = position + BLOCK
    const path = join(folder, name)
    if (type === FOLDER) mkdirSync(path, { mode: 0o700 })
    else if (type === FILE) writeFileSync(path, bytes.subarray(begin, begin + size), { mode: 0o600 })
    else throw new Error(`the archive holds "${name}", which is neither a file nor a folder`)
    position = begin + Math.ceil(size / BLOCK) * BLOCK
  }
  if (position > bytes.length) throw new Error('the archive ends in the middle of a file')
}

function text(header: Buffer, begin: number, length: number): string {
  const field = header.subarray(begin, begin + length)
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end === -1 ? length : end)
}

function number(header: Buffer, begin: number, length: number): number {
  return Number.parseInt(text(header, begin, length), 8)
}
