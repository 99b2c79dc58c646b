import {
  DEFAULT_QUEUE,
  readJobName,
  readJson,
  readLabel,
  readPriority,
  readText,
} from '../runs/assignment.js'
import type { Job } from '../runs/job.js'
import { isStorable } from '../runs/storable.js'
import { MAX_LIMIT } from '../time/bounds.js'
import { didYouMean } from '../time/did-you-mean.js'
import { formatInstant, type Instant, type InstantInput } from '../time/instant.js'
import { readAnchor } from '../time/once.js'
import { quote, type Report, readOrThrow } from '../time/report.js'
import { beginningAt } from '../time/rrule.js'
import { readTiming, type Timing } from '../time/timing.js'
import { POLICY_FIELDS, type Policies, type PolicyFields, readPolicies } from './policies.js'

export type ScheduleState = 'active' | 'paused' | 'broken' | 'finished'

export const DEFAULT_SCOPE = 'global'

/** What a caller puts: a timing, a job and its input, and how to treat them. */
export interface ScheduleDefinition<Input = unknown> extends PolicyFields {
  /** The job's handle, whose type checks `input`, or its name. */
  job: Job<Input> | string
  /**
   * What the handler gets.
   * @default null
   */
  input?: Input
  /** When it runs. */
  timing: Timing
  /**
   * The queue of its runs.
   * @default 'default'
   */
  queue?: string
  /**
   * Higher runs first within its queue.
   * @default 0
   */
  priority?: number
  /** The label by which schedules are filtered and paused together. */
  group?: string
  /**
   * Parallel lanes, such as tenants: one run for each scope and plan time.
   * @default what the job's `scopes` gives at each plan time, if it has that, else ['global']
   */
  scopes?: readonly string[]
  /** For people. */
  description?: string
  /** An object of your own, which nothing here reads. */
  metadata?: Readonly<Record<string, unknown>>
  /**
   * The earliest plan time, inclusive.
   * @default the time of creation
   */
  startAt?: InstantInput
  /** The end of the plan times, exclusive. */
  endAt?: InstantInput
  /** How many plan times there are, at most 100,000, counted from `startAt`, whatever becomes of them. */
  limit?: number
  /** Create it paused. It says nothing about a schedule that exists: use `pause` and `resume`. */
  paused?: boolean
}

/** A definition that was checked and filled with its defaults: equal contents have equal JSON. */
export interface ScheduleContent {
  job: string
  input: unknown
  queue: string
  priority: number
  group: string | null
  /** Null stands for what the job's provider gives. */
  scopes: readonly string[] | null
  timing: Timing
  policies: Policies
  description: string | null
  metadata: Readonly<Record<string, unknown>> | null
  /** Null stands for the time of creation. */
  startAt: string | null
  endAt: string | null
  limit: number | null
}

/** Why a schedule is not active, since when, and by whom. */
export interface StateNote {
  reason: string | null
  by: string | null
  since: Date
  /** When a pause ends by itself. */
  until: Date | null
}

/** A durable row: what was put, and where it stands. */
export interface Schedule extends Omit<ScheduleContent, 'startAt' | 'endAt' | 'policies'>, Policies {
  id: string
  name: string
  version: number
  startAt: Date
  endAt: Date | null
  state: ScheduleState
  /** Null while it is active. */
  stateNote: StateNote | null
  /** The next plan time that is not yet decided; null when there is none to come. */
  nextAt: Date | null
  createdAt: Date
  updatedAt: Date
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$/
const FIELDS: readonly string[] = [
  'job',
  'input',
  'timing',
  'queue',
  'priority',
  'group',
  'scopes',
  'description',
  'metadata',
  'startAt',
  'endAt',
  'limit',
  'paused',
  ...POLICY_FIELDS,
] satisfies (keyof ScheduleDefinition)[]

/**
 * Checks a definition and fills in its defaults. Every mistake is reported at once, by field. With `within`, it must be of
 * that group.
 */
export function parseSchedule(
  name: string,
  definition: ScheduleDefinition,
  within?: string,
): ScheduleContent {
  return readOrThrow('schedule_invalid', (report) => {
    readName(name, report)
    const content = readContent(definition, report)
    if (within !== undefined && content && content.group !== within) {
      report(
        'group',
        `${quote(content.group)} – must be ${quote(within)}: this access is limited to that group`,
      )
    }
    return content
  })
}

function readName(name: unknown, report: Report): void {
  if (typeof name === 'string' && NAME.test(name)) return
  report(
    'name',
    `${quote(name)} – use letters, digits and . _ : -, beginning with a letter or digit, at most 200`,
  )
}

function readContent(definition: ScheduleDefinition, report: Report): ScheduleContent | undefined {
  if (typeof definition !== 'object' || definition === null) {
    return report('definition', `${quote(definition)} – must be an object with a job and a timing`)
  }
  for (const field of Object.keys(definition)) {
    if (!FIELDS.includes(field)) report(field, `unknown field${didYouMean(field, FIELDS)}`)
  }
  const { priority = 0, metadata = null, input = null } = definition
  const timing = readTiming(definition.timing, 'timing', report)
  const zone = timing !== undefined && 'zone' in timing ? timing.zone : 'UTC'
  const startAt = readBound(definition.startAt, zone, 'startAt', report)
  const endAt = readBound(definition.endAt, zone, 'endAt', report)
  if (startAt !== null && endAt !== null && startAt >= endAt) {
    report('endAt', `${endAt} – must be after startAt, ${startAt}`)
  }
  if (definition.limit !== undefined) readLimit(definition.limit, report)
  if (definition.paused !== undefined && typeof definition.paused !== 'boolean') {
    report('paused', `${quote(definition.paused)} – must be true or false`)
  }
  if (typeof metadata !== 'object' || Array.isArray(metadata)) {
    report('metadata', `${quote(metadata)} – must be an object`)
  }
  const content = {
    job: readJobName(definition.job, 'job', report),
    input: readJson(input, 'input', report),
    queue: readLabel(definition.queue ?? DEFAULT_QUEUE, 'queue', report),
    priority: readPriority(priority, 'priority', report),
    group: definition.group === undefined ? null : readLabel(definition.group, 'group', report),
    scopes: definition.scopes === undefined ? null : readScopes(definition.scopes, report),
    policies: readPolicies(
      timing?.kind === 'after' ? neverOverlapping(definition, report) : definition,
      timing?.kind,
      report,
    ),
    description:
      definition.description === undefined ? null : readText(definition.description, 'description', report),
    metadata: readJson(metadata, 'metadata', report) as ScheduleContent['metadata'],
    startAt,
    endAt,
    limit: definition.limit ?? null,
  }
  return timing && { ...content, timing: startingAt(timing, startAt) }
}

/** The next plan time hangs on the end of the last run: there is one lane, and one run in it. */
function neverOverlapping(definition: ScheduleDefinition, report: Report): ScheduleDefinition {
  const { overlap = 'skip', scopes = [] } = definition
  if (overlap === 'queue' || overlap === 'replace') {
    report('overlap', `${quote(overlap)} – runs of an "after" timing never overlap: leave it out`)
  }
  if (scopes.length > 1) report('scopes', `${quote(scopes)} – an "after" timing takes one scope`)
  return { ...definition, overlap: 'skip' }
}

function readLimit(limit: unknown, report: Report): void {
  if (Number.isInteger(limit) && (limit as number) >= 1 && (limit as number) <= MAX_LIMIT) return
  report('limit', `${quote(limit)} – must be a whole number from 1 to ${MAX_LIMIT}`)
}

/** A recurrence rule counts from its DTSTART; one that names none counts from `startAt`. */
function startingAt(timing: Timing, startAt: string | null): Timing {
  if (timing.kind !== 'rrule') return timing
  return beginningAt(timing, startAt === null ? null : Date.parse(startAt))
}

/** A `startAt` that is the time of creation is none: so what `get` shows can be put again, and changes nothing. */
export function startingAtCreation(content: ScheduleContent, createdAt: Instant): ScheduleContent {
  if (content.startAt === null || Date.parse(content.startAt) !== createdAt) return content
  return { ...content, startAt: null, timing: startingAt(content.timing, null) }
}

function readScopes(scopes: unknown, report: Report): readonly string[] {
  if (!Array.isArray(scopes) || scopes.length === 0 || !scopes.every(isScope)) {
    report('scopes', `${quote(scopes)} – must be a list of at least one text, each of 1 to 200 characters`)
  } else if (new Set(scopes).size < scopes.length) {
    report('scopes', `${quote(scopes)} – the same scope twice`)
  }
  return scopes as string[]
}

export function isScope(scope: unknown): boolean {
  return typeof scope === 'string' && scope !== '' && scope.length <= 200 && isStorable(scope)
}

function readBound(input: unknown, zone: string, field: string, report: Report): string | null {
  if (input === undefined || input === null) return null
  const instant = readAnchor(input, zone, field, report)
  return instant === undefined ? null : formatInstant(instant)
}
