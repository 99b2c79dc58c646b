import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'

/** Made when the package is built; beside the sources there is none. */
const ARCHIVE = new URL('./empty-database.tar.br', import.meta.url)

/**
 * An empty database as the package ships it, which spares a new one the seconds of initdb; null where there is none,
 * and then the engine creates its own.
 */
export async function readEmptyDatabase(): Promise<ArrayBuffer | null> {
  const packed = await readFile(ARCHIVE).catch(() => null)
  if (packed === null) return null
  const { buffer, byteOffset, byteLength } = await promisify(brotliDecompress)(packed)
  return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer
}
