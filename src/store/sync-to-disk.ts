import { closeSync, fsyncSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Syncs the content of a file. */
function syncFile(path: string): void {
  // Windows syncs only what may be written.
  sync(path, 'r+')
}

/** Syncs the entries of a folder: without it, a new or renamed file may be gone after a power failure. */
export function syncFolder(path: string): void {
  // Windows does not open folders; its file systems keep a journal of entries.
  if (process.platform !== 'win32') sync(path, 'r')
}

/** Syncs a folder and all that is in it. */
export function syncTree(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) syncTree(path)
    else if (entry.isFile()) syncFile(path)
  }
  syncFolder(folder)
}

function sync(path: string, flags: string): void {
  const descriptor = openSync(path, flags)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
