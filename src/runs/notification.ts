/** Who is told of what went wrong, as the options have it. What is told, and when, is in `notice.ts`. */
import { createHash } from 'node:crypto'
import { didYouMean } from '../time/did-you-mean.js'
import { quote, type Report } from '../time/report.js'
import { DEFAULT_QUEUE, readJobName, readJson, readLabel, readPriority } from './assignment.js'
import type { AnyJob } from './job.js'

const NOTICE_EVENT_NAMES = ['schedule.broken', 'run.failed'] as const

/** What somebody can be told of by a notice. */
export type NoticeEventName = (typeof NOTICE_EVENT_NAMES)[number]

/** Has a run made, a notice, by the transaction in which something goes wrong. */
export interface Notification {
  /** What it tells of. */
  on: readonly NoticeEventName[]
  /**
   * The job that tells it: a direct run of it is inserted, whose input is `input` with what happened as `event`. Which process has
   * it does not matter.
   */
  job: AnyJob | string
  /**
   * What the job's input holds beside `event`.
   * @default {}
   */
  input?: Readonly<Record<string, unknown>>
  /**
   * The queue of its notices.
   * @default 'default'
   */
  queue?: string
  /**
   * The priority of its notices.
   * @default 0
   */
  priority?: number
  /** Tells of schedules of this group and of their runs only. Direct runs are in no group. */
  group?: string
  /**
   * What it goes by. There is one notice per notification, schedule and minute, in all processes together: processes that say
   * something different under one name, such as two versions of an application, make one of the same job. Under another job
   * it is another notification. Without a name it goes by all that it says.
   */
  name?: string
}

export const NOTIFICATION_DEFAULTS = {
  input: {},
  queue: DEFAULT_QUEUE,
  priority: 0,
} satisfies Partial<Notification>

/** A notification, checked and filled with its defaults. */
export interface NoticeRule {
  /** The same in every process that says the same. */
  id: string
  on: readonly NoticeEventName[]
  job: string
  input: Readonly<Record<string, unknown>>
  queue: string
  priority: number
  /** Null for all schedules, and direct runs. */
  group: string | null
}

const FIELDS: readonly string[] = [
  'on',
  'job',
  'input',
  'queue',
  'priority',
  'group',
  'name',
] satisfies (keyof Notification)[]

/** Checks all of them; `field` is what they stand in. */
export function readNotifications(given: unknown, field: string, report: Report): NoticeRule[] {
  if (!Array.isArray(given)) {
    report(field, `${quote(given)} – must be a list of { on, job, input }`)
    return []
  }
  const places = new Map<string, string>()
  return given.flatMap((each, index) => {
    const path = `${field}[${index}]`
    let mistakes = 0
    const rule = readNotification(each, path, (at, message) => {
      mistakes += 1
      return report(at, message)
    })
    if (!rule || mistakes > 0) return []
    const place = places.get(rule.id)
    if (place !== undefined) {
      const likeness = each.name === undefined ? 'says the same as' : 'has the name of'
      report(path, `${likeness} ${place}; leave it out, or give it a name of its own`)
    }
    places.set(rule.id, place ?? path)
    return [rule]
  })
}

function readNotification(given: unknown, path: string, report: Report): NoticeRule | undefined {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return report(path, `${quote(given)} – must be { on, job, input }`)
  }
  for (const field of Object.keys(given)) {
    if (!FIELDS.includes(field)) report(`${path}.${field}`, `unknown field${didYouMean(field, FIELDS)}`)
  }
  const { input: ownInput, queue: ownQueue, priority: ownPriority } = NOTIFICATION_DEFAULTS
  const {
    on,
    job,
    input = ownInput,
    queue = ownQueue,
    priority = ownPriority,
    group,
    name,
  } = given as Notification
  const rule = {
    on: readEventNames(on, `${path}.on`, report),
    job: readJobName(job, `${path}.job`, report),
    input: readInput(input, `${path}.input`, report),
    queue: readLabel(queue, `${path}.queue`, report),
    priority: readPriority(priority, `${path}.priority`, report),
    group: group === undefined ? null : readLabel(group, `${path}.group`, report),
  }
  const identity = name === undefined ? rule : readLabel(name, `${path}.name`, report)
  return { id: createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 16), ...rule }
}

function readEventNames(given: unknown, field: string, report: Report): NoticeEventName[] {
  if (!Array.isArray(given) || given.length === 0) {
    report(field, `${quote(given)} – must be a list of ${EXPECTED}, or both`)
    return []
  }
  for (const name of given) {
    if (NOTICE_EVENT_NAMES.includes(name)) continue
    report(field, `${quote(name)} – must be ${EXPECTED}${didYouMean(String(name), NOTICE_EVENT_NAMES)}`)
  }
  // In our order: the order in which they are given says nothing.
  return NOTICE_EVENT_NAMES.filter((name) => given.includes(name))
}

const EXPECTED = NOTICE_EVENT_NAMES.map((name) => `"${name}"`).join(' or ')

/** Refused here if it cannot be stored: a notice must not be able to stop what it tells of from being written down. */
function readInput(given: unknown, field: string, report: Report): Readonly<Record<string, unknown>> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    report(field, `${quote(given)} – must be an object: what happened joins it as event`)
    return {}
  }
  if ('event' in given) report(`${field}.event`, 'is what happened, and cannot be given')
  return readJson(given, field, report) as Record<string, unknown>
}
