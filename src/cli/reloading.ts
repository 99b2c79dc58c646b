import fs from 'node:fs'
import path from 'node:path'
import { EscapementError } from '../errors.js'
import { findConfig, type LoadedConfig, loadConfigFile } from './config-file.js'
import { watchFiles } from './files-watch.js'

export interface Reloading {
  /** Loads it for the first time. */
  first(): Promise<LoadedConfig>
  /** From now on each change since the first load is loaded, and handed on if it is right. */
  begin(handlers: { onLoaded(config: LoadedConfig): Promise<void>; onRefused(error: unknown): void }): void
  /** Hands on nothing more; resolves when what is under way is done. */
  end(): Promise<void>
}

/** Loads a configuration again whenever it, or a file that it imports, has changed: one change after the other. */
export function createReloading(given: string | undefined): Reloading {
  const file = findConfig(given) ?? nothingToWatch()
  const absolute = path.resolve(file)
  const watch = watchFiles((isOther) => {
    hasChanged = true
    // What happens beside a broken file may mend it, and mostly does not: the same is not told again.
    if (isOther) lastRefusal = undefined
    onChange()
  })
  let hasChanged = false
  let hasEnded = false
  let onChange = () => {}
  let turn: Promise<void> | undefined
  let lastRefusal: string | undefined

  async function load(): Promise<LoadedConfig> {
    let files: string[] = []
    let isBroken = true
    try {
      const config = await loadConfigFile(file, (loaded) => {
        files = loaded
      })
      isBroken = false
      if (!files.includes(absolute)) throw keptByNode(file)
      return config
    } finally {
      // What a link leads to is what is edited.
      watch.follow([...new Set([absolute, ...files].flatMap(withTarget))], isBroken)
    }
  }

  return {
    first() {
      watch.follow([absolute], false)
      return load()
    },
    begin({ onLoaded, onRefused }) {
      async function reload(): Promise<void> {
        while (hasChanged) {
          hasChanged = false
          try {
            const config = await load()
            // It was loaded while the process was told to stop.
            if (!hasEnded) await onLoaded(config)
          } catch (error) {
            const refusal = String(error)
            if (refusal !== lastRefusal) onRefused(error)
            lastRefusal = refusal
          }
        }
      }
      onChange = () => {
        turn ??= reload().finally(() => {
          turn = undefined
        })
      }
      if (hasChanged) onChange()
    },
    async end() {
      hasEnded = true
      watch.close()
      hasChanged = false
      onChange = () => {}
      await turn
    },
  }
}

function withTarget(file: string): string[] {
  return fs.existsSync(file) ? [file, fs.realpathSync(file)] : [file]
}

function nothingToWatch(): never {
  throw new EscapementError('option_invalid', {
    message: '--watch: there is no escapement.config.ts here to watch; name one with --config',
  })
}

function keptByNode(file: string): EscapementError {
  return new EscapementError('config_invalid', {
    message: `--watch: ${file} is a JavaScript module, which Node keeps as it has loaded it. Rename it to end in .ts; what is in it can stay.`,
    details: { file },
  })
}
