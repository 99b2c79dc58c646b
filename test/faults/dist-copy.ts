import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

export interface DistCopy {
  dist: string
  remove(): void
}

/** The compiled library once more, under another version, with the packages that it needs within its reach. */
export function copyOfDist(dist: string, { version }: { version: string }): DistCopy {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-dist-'))
  const copy = path.join(folder, 'dist')
  fs.cpSync(dist, copy, { recursive: true, filter: (file) => !file.endsWith(`${path.sep}dashboard`) })
  const manifest = JSON.parse(fs.readFileSync(path.join(dist, '..', 'package.json'), 'utf8'))
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ ...manifest, version }))
  fs.symlinkSync(fs.realpathSync(path.join(dist, '..', 'node_modules')), path.join(folder, 'node_modules'))
  return { dist: copy, remove: () => fs.rmSync(folder, { recursive: true, force: true }) }
}
