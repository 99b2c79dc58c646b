import fs from 'node:fs'
import path from 'node:path'

export interface FilesWatch {
  /**
   * From now on these are watched. With `isBroken`, whatever happens in their folders counts: what is missing may be a file
   * that nobody has loaded yet.
   */
  follow(files: readonly string[], isBroken: boolean): void
  close(): void
}

/** For so long it must be quiet: editors write in several steps, and many files are often saved at once. */
const QUIET_MS = 100

/**
 * Tells when what is in files has changed. Their folders are watched, not they themselves: many editors write another file and
 * rename it, and a watched file would be the one that is gone. A save that changes nothing is no change. `isOther` is false
 * where something happened beside broken files.
 */
export function watchFiles(onChange: (isOther: boolean) => void): FilesWatch {
  const folders = new Map<string, fs.FSWatcher>()
  let known = new Map<string, string | undefined>()
  let isBroken = false
  let quiet: NodeJS.Timeout | undefined

  function hear(folder: string, name: string | null): void {
    if (!isBroken && name !== null && !known.has(path.join(folder, name))) return
    clearTimeout(quiet)
    quiet = setTimeout(() => {
      const now = new Map([...known.keys()].map((file) => [file, textOf(file)]))
      const hasChanged = [...known].some(([file, text]) => now.get(file) !== text)
      // From before they are loaded: an edit meanwhile is a change that comes after this one.
      known = now
      if (isBroken || hasChanged) onChange(hasChanged)
    }, QUIET_MS)
  }

  return {
    follow(files, broken) {
      isBroken = broken
      known = new Map(files.map((file) => [file, known.has(file) ? known.get(file) : textOf(file)]))
      const wanted = new Set(files.map((file) => path.dirname(file)))
      for (const [folder, watcher] of folders) {
        if (wanted.has(folder)) continue
        watcher.close()
        folders.delete(folder)
      }
      for (const folder of wanted) {
        if (folders.has(folder) || !fs.existsSync(folder)) continue
        const watcher = fs.watch(folder, (_, name) => hear(folder, name))
        // The folder has gone: whoever brings it back saves the configuration again.
        watcher.on('error', () => folders.delete(folder))
        folders.set(folder, watcher)
      }
    },
    close() {
      clearTimeout(quiet)
      for (const watcher of folders.values()) watcher.close()
    },
  }
}

function textOf(file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
