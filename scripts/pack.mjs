// Packs what is built as `npm publish` would.
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'

/**
 * Writes the tarball into the folder.
 *
 * @param {string} folder
 * @returns {{ tarball: string, size: number, unpackedSize: number, files: string[] }} sizes in bytes
 */
export function pack(folder) {
  const { status, stdout, stderr } = spawnSync(npm, ['pack', '--json', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`npm pack failed: ${stderr}`)
  const [{ filename, size, unpackedSize, files }] = JSON.parse(stdout)
  return { tarball: path.join(folder, filename), size, unpackedSize, files: files.map((file) => file.path) }
}
