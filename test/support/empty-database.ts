import { readFile } from 'node:fs/promises'
import { brotliDecompressSync } from 'node:zlib'

/** The archive that the build made: the sources have none beside them. */
export async function emptyDatabase(): Promise<Blob> {
  const packed = await readFile(new URL('../../dist/store/empty-database.tar.br', import.meta.url))
  return new Blob([brotliDecompressSync(packed)])
}
