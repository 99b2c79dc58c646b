import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'
import type { EscapementConfig } from '../config.js'
import { EscapementError } from '../errors.js'
import { isJob } from '../runs/job.js'
import { didYouMean } from '../time/did-you-mean.js'

const NAMES = ['ts', 'mts', 'js', 'mjs'].map((ending) => `escapement.config.${ending}`)

/** The file named, or the one in this folder; nothing when there is none. */
export async function loadConfig(given: string | undefined): Promise<EscapementConfig & { file?: string }> {
  const file = given ?? NAMES.find((name) => fs.existsSync(name))
  if (file === undefined) return {}
  const absolute = path.resolve(file)
  if (!fs.existsSync(absolute)) {
    throw new EscapementError('config_invalid', { message: `There is no configuration file ${file}.` })
  }
  let config: unknown
  try {
    config = await createJiti(import.meta.url, { alias: ownEntryPoints() }).import(absolute, {
      default: true,
    })
  } catch (error) {
    throw new EscapementError('config_invalid', {
      message: `${file} could not be loaded: ${error instanceof Error ? error.message : error}`,
      cause: error,
    })
  }
  if (typeof config !== 'object' || config === null) {
    throw new EscapementError('config_invalid', {
      message: `${file} has no default export; write: export default defineConfig({ jobs, schedules })`,
    })
  }
  checkConfig(config as Record<string, unknown>, file)
  return { ...config, file }
}

const FIELDS = [
  'jobs',
  'schedules',
  'transitions',
  'http',
  'notify',
  'options',
] satisfies (keyof EscapementConfig)[]

function checkConfig(config: Record<string, unknown>, file: string): void {
  const refuse = (message: string) => {
    throw new EscapementError('config_invalid', { message: `${file}: ${message}` })
  }
  for (const field of Object.keys(config)) {
    if (!(FIELDS as string[]).includes(field)) refuse(`${field}: unknown field${didYouMean(field, FIELDS)}`)
  }
  const { jobs = [], schedules = {}, transitions = {}, http = {} } = config
  if (!Array.isArray(jobs)) refuse('jobs: must be a list of what defineJob gives')
  const stranger = (jobs as unknown[]).findIndex((job) => !isJob(job))
  if (stranger >= 0) refuse(`jobs[${stranger}]: must come from defineJob('name', { handler })`)
  if (typeof schedules !== 'object' || schedules === null || Array.isArray(schedules)) {
    refuse('schedules: must be an object, by name')
  }
  if (typeof transitions !== 'object' || transitions === null) {
    refuse('transitions: must be an object, by table, or a list of what fromDrizzle and fromPrisma give')
  }
  if (http !== false && (typeof http !== 'object' || http === null || Array.isArray(http))) {
    refuse('http: must be an object with options of the job http, or false')
  }
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
