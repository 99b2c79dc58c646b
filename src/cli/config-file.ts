import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'
import type { EscapementConfig } from '../config.js'
import { EscapementError } from '../errors.js'
import { checkConfig } from './config-check.js'
import { type ConfigSource, isTheirs, loadError, mistakesInConfig } from './config-errors.js'

const NAMES = ['ts', 'mts', 'js', 'mjs'].map((ending) => `escapement.config.${ending}`)

export interface LoadedConfig extends EscapementConfig {
  /** Absent where there is no file. */
  source?: ConfigSource
}

/** The file named, or the one in this folder; undefined when there is none. */
export function findConfig(given: string | undefined): string | undefined {
  const file = given ?? NAMES.find((name) => fs.existsSync(name))
  if (file === undefined || fs.existsSync(file)) return file
  throw new EscapementError('config_invalid', { message: `There is no configuration file ${file}.` })
}

/** Loads and checks it; every mistake that needs no database to be seen is told at once, with its line. */
export async function loadConfig(given: string | undefined): Promise<LoadedConfig> {
  const file = findConfig(given)
  return file === undefined ? {} : loadConfigFile(file)
}

/**
 * Loads and checks a file, and evaluates it and all that it imports anew, but for JavaScript modules: those Node loads itself,
 * and keeps. `onLoaded` hears which files were evaluated, also where one of them failed.
 */
export async function loadConfigFile(
  file: string,
  onLoaded: (files: string[]) => void = () => {},
): Promise<LoadedConfig> {
  const absolute = path.resolve(file)
  const source = { file, text: textOf(file) }
  const jiti = createJiti(import.meta.url, { alias: ownEntryPoints() })
  for (const loaded of loadedFiles(jiti.cache)) delete jiti.cache[loaded]
  let evaluated: Record<string, unknown>
  try {
    evaluated = await jiti.import(absolute)
  } catch (error) {
    throw loadError(file, error)
  } finally {
    onLoaded(loadedFiles(jiti.cache))
  }
  return checked(source, evaluated)
}

function textOf(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch (error) {
    throw new EscapementError('config_invalid', {
      message: `Cannot read the configuration file ${file}: ${(error as Error).message}.`,
      cause: error,
    })
  }
}

async function checked(source: ConfigSource, evaluated: Record<string, unknown>): Promise<LoadedConfig> {
  const config = evaluated.default
  // A promise is an object without fields, which would be a configuration of nothing.
  const isOne = typeof config === 'object' && config !== null && !(config instanceof Promise)
  if (!('default' in evaluated) || !isOne) {
    const what = 'default' in evaluated ? 'its default export is no configuration' : 'has no default export'
    throw mistakesInConfig(source, [
      { path: [], message: `${what}; write: export default defineConfig({ jobs, schedules })` },
    ])
  }
  const fields = fieldsOf(source, config)
  const mistakes = await checkConfig(Object.fromEntries(fields))
  if (mistakes.length > 0) throw mistakesInConfig(source, mistakes)
  // Null is as good as absent, to whoever reads it from here on.
  return { ...Object.fromEntries(fields.filter(([, value]) => value !== null)), source }
}

/** Read once: a field may be code, which throws, or gives something else the next time. */
function fieldsOf({ file }: ConfigSource, config: object): [string, unknown][] {
  try {
    return Object.entries(config)
  } catch (error) {
    throw loadError(file, error)
  }
}

/** Those of theirs; what packages have loaded stays as it is. */
function loadedFiles(cache: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(cache).filter(isTheirs)
}

/** `escapement` in a configuration means this very program, installed beside the file or not. */
function ownEntryPoints(): Record<string, string> {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const { exports } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
  const entries = Object.entries<{ default?: string }>(exports)
    .filter(([, target]) => target.default !== undefined)
    .map(([name, target]) => [path.posix.join('escapement', name), path.join(root, target.default!)])
  // The longest first: an alias also matches what begins with it.
  return Object.fromEntries(entries.sort(([a], [b]) => b!.length - a!.length))
}
