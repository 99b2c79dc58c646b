import type { EscapementConfig } from '../config.js'
import { EscapementError, type Mistake } from '../errors.js'
import { httpJob } from '../http-job/http-job.js'
import type { HttpJobOptions } from '../http-job/options.js'
import { readOptions } from '../options.js'
import { type AnyJob, checkInput, isJob } from '../runs/job.js'
import { parseSchedule, type ScheduleDefinition } from '../schedules/schedule.js'
import { didYouMean } from '../time/did-you-mean.js'
import { quote } from '../time/report.js'
import { allJobs } from './built-in-jobs.js'
import { type ConfigMistake, stepsOf } from './config-errors.js'
import type { KeyPath } from './source-keys.js'

const FIELDS = [
  'jobs',
  'schedules',
  'transitions',
  'prune',
  'http',
  'notify',
  'options',
] satisfies (keyof EscapementConfig)[]
/** What is decided elsewhere, by where. */
const NOT_OPTIONS: Readonly<Record<string, string>> = {
  database: 'is decided on the command line; leave it out',
  logger: 'is decided on the command line, by --log; leave it out',
  clock: "is the database's; leave it out",
  notify: 'has its place beside options, not in them',
}

type Given = Readonly<Record<string, unknown>>

/** All that can be told of a configuration without the database. */
export async function checkConfig(config: Given): Promise<ConfigMistake[]> {
  const unknown = Object.keys(config)
    .filter((field) => !(FIELDS as string[]).includes(field))
    .map((field) => ({ path: [field], message: `unknown field${didYouMean(field, FIELDS)}` }))
  return [
    ...unknown,
    ...checkJobs(config.jobs ?? []),
    ...(await checkSchedules(config)),
    ...checkTransitions(config.transitions ?? {}),
    ...checkPrune(config.prune),
    ...checkHttp(config.http ?? {}),
    ...mistakesOf([], () => readOptions({ notify: (config.notify ?? []) as never })),
    ...checkOptions(config.options ?? {}),
  ]
}

function checkJobs(jobs: unknown): ConfigMistake[] {
  if (!Array.isArray(jobs)) return [{ path: ['jobs'], message: 'must be a list of what defineJob gives' }]
  return jobs.flatMap((job, index) => {
    const path = ['jobs', index]
    if (!isJob(job)) return [{ path, message: "must come from defineJob('name', { handler })" }]
    const first = jobs.findIndex((other) => isJob(other) && other.name === job.name)
    if (first === index || jobs[first] === job) return []
    return [{ path, message: `there is another job "${job.name}", jobs[${first}]; names are unique` }]
  })
}

async function checkSchedules({ schedules = {}, jobs, http = {} }: Given): Promise<ConfigMistake[]> {
  if (!isObject(schedules)) return [{ path: ['schedules'], message: 'must be an object, by name' }]
  const own = (Array.isArray(jobs) ? jobs : []).filter(isJob)
  const known = checkHttp(http).length === 0 ? allJobs({ jobs: own, http: http as HttpJobOptions }) : own
  const found: ConfigMistake[] = []
  for (const [name, definition] of Object.entries(schedules)) {
    const at = ['schedules', name]
    found.push(...(await mistakesIn(at, () => checkSchedule(name, definition as ScheduleDefinition, known))))
  }
  return found
}

async function checkSchedule(
  name: string,
  definition: ScheduleDefinition,
  jobs: readonly AnyJob[],
): Promise<void> {
  const content = parseSchedule(name, definition)
  const code = isJob(definition.job) ? definition.job : jobs.find((job) => job.name === content.job)
  if (code) await checkInput(code, content.input)
}

function checkTransitions(transitions: unknown): ConfigMistake[] {
  if (typeof transitions === 'object' && transitions !== null) return []
  const message = 'must be an object, by table, or a list of what fromDrizzle and fromPrisma give'
  return [{ path: ['transitions'], message }]
}

function checkHttp(http: unknown): ConfigMistake[] {
  if (http === false) return []
  if (!isObject(http))
    return [{ path: ['http'], message: 'must be an object with options of the job http, or false' }]
  return mistakesOf(['http'], () => httpJob(http))
}

function checkPrune(prune: unknown): ConfigMistake[] {
  if (prune === undefined || typeof prune === 'boolean') return []
  return [{ path: ['prune'], message: `${quote(prune)} – must be true or false` }]
}

function checkOptions(options: unknown): ConfigMistake[] {
  if (!isObject(options)) return [{ path: ['options'], message: 'must be an object' }]
  const decided = Object.entries(NOT_OPTIONS)
    .filter(([name]) => name in options)
    .map(([name, message]) => ({ path: ['options', name], message }))
  const rest = Object.entries(options).filter(([name]) => !(name in NOT_OPTIONS))
  // The database is not known here; a server's takes every option.
  const asked = { ...Object.fromEntries(rest), database: 'postgres://localhost/any' }
  return [...decided, ...mistakesOf(['options'], () => readOptions(asked))]
}

function isObject(value: unknown): value is Given {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function mistakesOf(at: KeyPath, read: () => unknown): ConfigMistake[] {
  try {
    read()
    return []
  } catch (error) {
    return mistakesFrom(at, error)
  }
}

async function mistakesIn(at: KeyPath, read: () => Promise<void>): Promise<ConfigMistake[]> {
  try {
    await read()
    return []
  } catch (error) {
    return mistakesFrom(at, error)
  }
}

/** Not fields, but what has them: a name is its own key, and a definition is what stands behind it. */
const ITSELF = ['name', 'definition', 'table', 'declaration']

/** What a reader refused, by where in the configuration it was given; any other error is thrown again. */
export function mistakesFrom(at: KeyPath, error: unknown): ConfigMistake[] {
  const mistakes = error instanceof EscapementError ? (error.details.mistakes as Mistake[] | undefined) : []
  if (!mistakes?.length) throw error
  return mistakes.map(({ field, message }) => {
    // Whose field it is the path says already.
    const own = field.replace(/^(?:job|table) ".*": /s, '')
    return { path: ITSELF.includes(own) ? at : [...at, ...stepsOf(own)], message }
  })
}
