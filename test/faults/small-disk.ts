import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/** A disk of its own for the database, small enough to be filled. */
export interface SmallDisk {
  readonly folder: string
  /** Takes all the room that there is. */
  fill(): void
  free(): void
  unmount(): void
}

const MEGABYTES = 400
const BLOCK = Buffer.alloc(1 << 20)

/** Null where this process may mount none: that takes root, and more than a container often has. */
export function mountSmallDisk(): SmallDisk | null {
  if (process.getuid?.() !== 0) return null
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-disk-'))
  const options = ['-t', 'tmpfs', '-o', `size=${MEGABYTES}m,mode=0755`, 'escapement', folder]
  if (spawnSync('mount', options, { stdio: 'ignore' }).status !== 0) {
    fs.rmdirSync(folder)
    return null
  }
  const ballast = path.join(folder, 'ballast')
  const free = () => fs.rmSync(ballast, { force: true })
  const unmount = () => {
    process.off('exit', unmount)
    // Lazily: whoever has a file open there keeps it for as long.
    spawnSync('umount', ['--lazy', folder], { stdio: 'ignore' })
    fs.rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', unmount)
  return {
    folder,
    fill() {
      const file = fs.openSync(ballast, 'w')
      try {
        for (let size = BLOCK.length; size >= 4096; ) {
          try {
            if (fs.writeSync(file, BLOCK, 0, size) < size) size = Math.floor(size / 2)
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
            size = Math.floor(size / 2)
          }
        }
      } finally {
        fs.closeSync(file)
      }
    },
    free,
    unmount,
  }
}
