import fs from 'node:fs'
import path from 'node:path'
import { type Command, Option } from 'commander'
import type { AuditReport } from '../client/audit.js'
import type { Diagnosis } from '../client/doctor.js'
import type { TransitionStatus } from '../client/transitions.js'
import type { EscapementConfig } from '../config.js'
import { EscapementError } from '../errors.js'
import { createEscapement, type Escapement } from '../escapement.js'
import type { DatabaseOption } from '../options.js'
import type { Schedule } from '../schedules/schedule.js'
import { readDirectoryLock } from '../store/directory-lock.js'
import type { SweepOptions } from '../sweeper/sweeper.js'
import { zoneDataVersion } from '../time/zone.js'
import type { SweepReport } from '../transitions/change.js'
import type { DeclaredTable } from '../transitions/row-declaration.js'

export interface DatabaseFlags {
  database?: string
  directory: string
  schema?: string
}

export interface ConnectionFlags extends DatabaseFlags {
  url?: string
}

const DEFAULT_DIRECTORY = './.escapement'

/** `--database`, `--directory`, `--schema`: for commands that open a database themselves. */
export function withDatabaseFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--database <url>', 'PostgreSQL to use (default: $DATABASE_URL)').conflicts('directory'),
    )
    .addOption(new Option('--directory <path>', 'folder of the embedded database').default(DEFAULT_DIRECTORY))
    .option('--schema <name>', 'schema that holds the tables (default: "escapement")')
}

/** The same and `--url`: for commands that can also ask a running server. */
export function withConnectionFlags(command: Command): Command {
  return withDatabaseFlags(command).addOption(
    new Option('--url <url>', 'server to ask (default: $ESCAPEMENT_URL)').conflicts([
      'database',
      'directory',
      'schema',
    ]),
  )
}

/** What is on the command line beats the environment. */
function isGiven(command: Command, ...names: string[]): boolean {
  return names.some((name) => command.getOptionValueSource(name) === 'cli')
}

export function databaseOf({ database, directory }: DatabaseFlags, command: Command): DatabaseOption {
  if (database !== undefined) return database
  if (isGiven(command, 'directory')) return { directory }
  return process.env.DATABASE_URL ?? { directory }
}

/** What commands need, whether it comes from a server or straight from a database. */
export interface Connection {
  listSchedules(): Promise<Schedule[]>
  audit(): Promise<AuditReport>
  diagnose(): Promise<Diagnosis[]>
  /** The version of the time zone data of the process that answers. */
  zoneData(): Promise<string>
  listTransitions(): Promise<TransitionStatus[]>
  /** One batch of each table. */
  sweep(options: SweepOptions): Promise<SweepReport>
  close(): Promise<void>
}

/**
 * A server if one is named; else a database if one is named; else whatever runs on the folder, found by its lock
 * file; else the folder itself.
 */
export async function connect(
  flags: ConnectionFlags,
  command: Command,
  config: () => Promise<EscapementConfig> = async () => ({}),
): Promise<Connection> {
  const isDatabaseNamed = isGiven(command, 'database', 'directory')
  const url = flags.url ?? (isDatabaseNamed ? undefined : process.env.ESCAPEMENT_URL)
  if (url !== undefined) return toServer(url)
  const database = databaseOf(flags, command)
  if (typeof database === 'object' && 'directory' in database) {
    const owner = await readDirectoryLock(database.directory)
    if (owner?.url) return toServer(owner.url)
    if (!fs.existsSync(path.join(database.directory, 'data'))) throw nothingThere(database.directory)
  }
  return toDatabase(database, flags.schema, await config())
}

function nothingThere(directory: string): EscapementError {
  return new EscapementError('directory_unusable', {
    message: `Nothing to ask: no server runs on ${directory}, and it holds no data. Start one with "escapement up", or name a --url or --database.`,
  })
}

/** Declares the transitions of a configuration. */
export async function declareAll({ transitions }: Escapement, config: EscapementConfig): Promise<void> {
  const given = config.transitions ?? {}
  const declared = Array.isArray(given)
    ? (given as readonly DeclaredTable[])
    : Object.entries(given).map(([table, declaration]) => ({ ...declaration, table }))
  for (const each of declared) {
    await transitions.declare(each)
  }
}

async function toDatabase(
  database: DatabaseOption,
  schema: string | undefined,
  config: EscapementConfig,
): Promise<Connection> {
  const escapement = await createEscapement({
    ...config.options,
    database,
    migrate: false,
    ...(schema === undefined ? {} : { schema }),
  })
  try {
    await declareAll(escapement, config)
  } catch (error) {
    await escapement.close()
    throw error
  }
  return {
    listSchedules: () => allPages((after) => escapement.schedules.list({ after, limit: PAGE })),
    audit: () => escapement.audit(),
    diagnose: () => escapement.doctor(),
    zoneData: async () => zoneDataVersion(),
    listTransitions: () => escapement.transitions.list(),
    sweep: (options) => escapement.transitions.sweep(options),
    close: () => escapement.close(),
  }
}

function toServer(url: string): Connection {
  return {
    listSchedules: () =>
      allPages(async (after) => {
        const query = new URLSearchParams({ pageToken: after, limit: String(PAGE) })
        const page = await getJson<{ schedules: Json<Schedule>[] }>(url, `/api/v1/schedules?${query}`)
        return page.schedules.map(withDates)
      }),
    audit: () => getJson<AuditReport>(url, '/api/v1/audit'),
    diagnose: () => getJson<Diagnosis[]>(url, '/api/v1/doctor'),
    zoneData: async () => (await getJson<{ zoneData: string }>(url, '/health')).zoneData,
    async listTransitions() {
      const { transitions } = await getJson<{ transitions: TransitionStatus[] }>(url, '/api/v1/transitions')
      return transitions.map(statusWithDates)
    },
    sweep: (options) =>
      getJson<SweepReport>(url, '/api/v1/transitions/sweep', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(options),
      }),
    close: async () => {},
  }
}

const PAGE = 1000

async function allPages(page: (after: string) => Promise<Schedule[]>): Promise<Schedule[]> {
  const all: Schedule[] = []
  for (;;) {
    const found = await page(all.at(-1)?.name ?? '')
    all.push(...found)
    if (found.length < PAGE) return all
  }
}

async function getJson<Body>(url: string, route: string, request: RequestInit = {}): Promise<Body> {
  let response: Response
  try {
    response = await fetch(new URL(route, url), request)
  } catch (error) {
    throw new EscapementError('server_unreachable', {
      message: `No server answers at ${url}. Start one with "escapement up", or name another --url.`,
      cause: error,
    })
  }
  if (response.ok) {
    return response.json().catch((error) => {
      throw new EscapementError('server_unreachable', {
        message: `What answers at ${url} is not Escapement. Name another --url.`,
        cause: error,
      })
    }) as Promise<Body>
  }
  const problem = (await response.json().catch(() => ({}))) as { detail?: string }
  throw new EscapementError('server_unreachable', {
    message: `${url} answered ${response.status}: ${problem.detail ?? response.statusText}`,
  })
}

/** What a value is after it has travelled as JSON: dates are text. */
type Json<T> = {
  [Key in keyof T]: T[Key] extends Date ? string : T[Key] extends Date | null ? string | null : T[Key]
}

function withDates(schedule: Json<Schedule>): Schedule {
  const { startAt, endAt, nextAt, createdAt, updatedAt } = schedule
  return {
    ...schedule,
    startAt: new Date(startAt),
    endAt: endAt === null ? null : new Date(endAt),
    nextAt: nextAt === null ? null : new Date(nextAt),
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
  }
}

function statusWithDates(status: TransitionStatus): TransitionStatus {
  const withDate = <T extends { nextDueAt: Date | null }>(part: T): T => ({
    ...part,
    nextDueAt: part.nextDueAt === null ? null : new Date(part.nextDueAt),
  })
  return { ...withDate(status), fields: status.fields.map(withDate) }
}
