/**
 * What callers pass is checked before anything is asked of the database, and every mistake is named at once. Programs pass on
 * what people typed and what came over the wire, so the types alone prove nothing here.
 */
import { isStorable } from '../runs/storable.js'
import { isUuid } from '../runs/uuid.js'
import { isScope } from '../schedules/schedule.js'
import { didYouMean } from '../time/did-you-mean.js'
import { quote, type Report, readOrThrow } from '../time/report.js'
import type { Schedules } from './schedules.js'

type Check = (value: unknown, field: string, report: Report) => unknown
type Spec = Readonly<Record<string, Check>>

/** The longest page of a list. */
const MAX_PAGE = 10_000
/** Of one that is found by looking through more. */
const MAX_SEARCH_PAGE = 1_000
/** Of one whose plan times are computed, too. */
const MAX_PLANNED_PAGE = 500
/** As much as somebody types; each word of it is an index scan. */
const LONGEST_QUERY = 200
/** How many plan times a preview or a diff looks at: pairing those of a diff takes the square of it. */
const MAX_PLAN_TIMES = 1_000
/** Occurrences of each schedule of a page. */
const MAX_RECENT = 100
const INT4_MAX = 2_147_483_647

const text: Check = (value, field, report) => {
  if (typeof value === 'string' && value !== '' && isStorable(value)) return
  report(field, `${quote(value)} – must be a text, not empty`)
}
const textOrEmpty: Check = (value, field, report) => value === '' || text(value, field, report)
const scope: Check = (value, field, report) => {
  if (!isScope(value)) report(field, `${quote(value)} – must be a text of 1 to 200 characters`)
}
const flag: Check = (value, field, report) => {
  if (typeof value !== 'boolean') report(field, `${quote(value)} – must be true or false`)
}
const position: Check = (value, field, report) => {
  if (typeof value === 'string' && /^\d{1,18}$/.test(value)) return
  report(field, `${quote(value)} – is none that a change has`)
}
const uuid: Check = (value, field, report) => {
  if (!isUuid(value)) report(field, `${quote(value)} – must be an id, such as a run or a schedule has`)
}
const query: Check = (value, field, report) => {
  if (typeof value === 'string' && value.length <= LONGEST_QUERY && isStorable(value)) return
  report(field, `${quote(value)} – must be a text of at most ${LONGEST_QUERY} characters`)
}
/** Checked where it is read. */
const anything: Check = () => {}

function wholeUpTo(most: number, least = 1): Check {
  return (value, field, report) => {
    if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return
    report(field, `${quote(value)} – must be a whole number from ${least} to ${most}`)
  }
}

/** One, or a list of at least one. */
function someOf(...words: readonly string[]): Check {
  const one = oneOf(...words)
  return (value, field, report) => {
    if (!Array.isArray(value)) return one(value, field, report)
    if (value.length === 0) return report(field, '[] – must name at least one')
    for (const [index, item] of value.entries()) one(item, `${field}[${index}]`, report)
  }
}

function oneOf(...words: readonly string[]): Check {
  return (value, field, report) => {
    if (words.includes(value as string)) return
    const hint = typeof value === 'string' ? didYouMean(value, words) : ''
    report(field, `${quote(value)} – must be one of ${words.map((word) => `"${word}"`).join(', ')}${hint}`)
  }
}

export const VERB: Spec = { actor: text }
const EDIT: Spec = { ...VERB, expectedVersion: wholeUpTo(INT4_MAX) }
const PAUSE: Spec = { ...EDIT, reason: text, until: anything }
/** Only what is put can be meant not to be there yet. */
const PUT: Spec = { ...VERB, expectedVersion: wholeUpTo(INT4_MAX, 0) }
const SCHEDULE_STATE = oneOf('active', 'paused', 'broken', 'finished')
const TRIGGER: Spec = { ...VERB, key: text, input: anything, scope }
const LIST: Spec = {
  state: SCHEDULE_STATE,
  group: text,
  job: text,
  prefix: textOrEmpty,
  after: textOrEmpty,
  limit: wholeUpTo(MAX_PAGE),
}
const SEARCH: Spec = {
  state: SCHEDULE_STATE,
  group: text,
  job: text,
  source: text,
  q: query,
  recent: wholeUpTo(MAX_RECENT),
  limit: wholeUpTo(MAX_SEARCH_PAGE),
  pageToken: text,
}
const FILTER: Spec = { state: SCHEDULE_STATE, group: text, job: text, source: text, q: query }
const BULK: Spec = { ...VERB, dryRun: flag, limit: wholeUpTo(INT4_MAX), pageToken: text }
const PLANNED: Spec = {
  from: anything,
  to: anything,
  queue: text,
  group: text,
  limit: wholeUpTo(MAX_PLANNED_PAGE),
  pageToken: text,
}
export const FORECAST: Spec = {
  from: anything,
  to: anything,
  bucket: anything,
  queue: anything,
  group: anything,
  by: anything,
}
export const STATS_HISTORY: Spec = { from: anything, to: anything, bucket: anything }
const RANGE: Spec = { from: anything, to: anything }
/** How many occurrences a timeline takes to each side. */
const AROUND = wholeUpTo(500, 0)
const COUNT: Spec = { count: wholeUpTo(MAX_PLAN_TIMES) }
const RUN_TRIGGER = oneOf('scheduled', 'manual', 'backfill', 'direct')
export const LIST_RUNS: Spec = { schedule: text, limit: wholeUpTo(MAX_PAGE) }
export const SEARCH_RUNS: Spec = {
  state: someOf('pending', 'running', 'retrying', 'succeeded', 'failed', 'cancelled', 'skipped'),
  job: text,
  queue: text,
  schedule: text,
  scheduleId: uuid,
  trigger: RUN_TRIGGER,
  from: anything,
  to: anything,
  limit: wholeUpTo(MAX_SEARCH_PAGE),
  pageToken: text,
}
export const RETRY_RUNS: Spec = {
  job: text,
  queue: text,
  schedule: text,
  trigger: RUN_TRIGGER,
  finishedAfter: anything,
  finishedBefore: anything,
  plannedAfter: anything,
  plannedBefore: anything,
}
export const EXPORT: Spec = { ...VERB, mode: oneOf('copy', 'move'), wait: anything, signal: anything }
/** Of what is ended or paused at once, and not with a schedule. */
export const WITH_REASON: Spec = { ...VERB, reason: text }

/** Refuses what is no object, fields that there are none of, and values that the field does not take. */
export function checkOptions(options: unknown, spec: Spec, required: readonly string[] = []): void {
  check((report) => readFields(options, spec, required, report))
}

function readFields(options: unknown, spec: Spec, required: readonly string[], report: Report): void {
  if (options === undefined && required.length === 0) return
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    report('options', `${quote(options)} – must be an object with ${Object.keys(spec).join(', ')}`)
    return
  }
  for (const [field, value] of Object.entries(options)) {
    const read = Object.hasOwn(spec, field) ? spec[field] : undefined
    if (read === undefined) report(field, `unknown option${didYouMean(field, Object.keys(spec))}`)
    else if (value !== undefined) read(value, field, report)
  }
  for (const field of required) {
    if ((options as Record<string, unknown>)[field] === undefined) report(field, 'is missing')
  }
}

function check(read: (report: Report) => void): void {
  readOrThrow('option_invalid', (report) => {
    read(report)
    return true
  })
}

function object(value: unknown, field: string, report: Report): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    report(field, `${quote(value)} – must be an object`)
  }
}

/** The same verbs, for callers who may pass anything. */
export function checkedSchedules(schedules: Schedules): Schedules {
  const named = (name: unknown, options: unknown, spec: Spec, required: readonly string[] = []) =>
    check((report) => {
      text(name, 'name', report)
      readFields(options, spec, required, report)
    })
  return {
    async put(name, definition, options) {
      checkOptions(options, PUT)
      return schedules.put(name, definition, options)
    },
    async patch(name, fields, options) {
      named(name, options, EDIT)
      check((report) => object(fields, 'fields', report))
      return schedules.patch(name, fields, options)
    },
    async get(name) {
      named(name, undefined, {})
      return schedules.get(name)
    },
    async list(options) {
      checkOptions(options, LIST)
      return schedules.list(options)
    },
    async search(options) {
      checkOptions(options, SEARCH)
      return schedules.search(options)
    },
    async planned(options) {
      checkOptions(options, PLANNED, ['from', 'to'])
      return schedules.planned(options)
    },
    async pause(name, options) {
      named(name, options, PAUSE)
      return schedules.pause(name, options)
    },
    async resume(name, options) {
      named(name, options, EDIT)
      return schedules.resume(name, options)
    },
    async pauseAll(filter, options) {
      check((report) => object(filter, 'filter', report))
      checkOptions(filter, FILTER)
      checkOptions(options, { ...BULK, reason: text, until: anything })
      return schedules.pauseAll(filter, options)
    },
    async resumeAll(filter, options) {
      check((report) => object(filter, 'filter', report))
      checkOptions(filter, FILTER)
      checkOptions(options, BULK)
      return schedules.resumeAll(filter, options)
    },
    async pauseGroup(group, options) {
      check((report) => text(group, 'group', report))
      checkOptions(options, PAUSE)
      return schedules.pauseGroup(group, options)
    },
    async resumeGroup(group, options) {
      check((report) => text(group, 'group', report))
      checkOptions(options, VERB)
      return schedules.resumeGroup(group, options)
    },
    async skip(name, planTime, options) {
      named(name, options, VERB)
      return schedules.skip(name, planTime, options)
    },
    async unskip(name, planTime, options) {
      named(name, options, VERB)
      return schedules.unskip(name, planTime, options)
    },
    async trigger(name, options) {
      named(name, options, TRIGGER)
      return schedules.trigger(name, options)
    },
    async triggerRun(name, options) {
      named(name, options, TRIGGER)
      return schedules.triggerRun(name, options)
    },
    async backfill(name, options) {
      named(name, options, { ...VERB, ...RANGE, dryRun: flag }, ['from', 'to'])
      return schedules.backfill(name, options)
    },
    async rename(name, to, options) {
      named(name, options, EDIT)
      return schedules.rename(name, to, options)
    },
    async delete(name, options) {
      named(name, options, { ...EDIT, runs: oneOf('keep', 'delete') })
      return schedules.delete(name, options)
    },
    async preview(name, options) {
      named(name, options, { after: anything, ...COUNT })
      return schedules.preview(name, options)
    },
    async diff(name, fields, options) {
      named(name, options, COUNT)
      check((report) => object(fields, 'fields', report))
      return schedules.diff(name, fields, options)
    },
    async occurrences(name, range) {
      named(name, range, RANGE, ['from', 'to'])
      return schedules.occurrences(name, range)
    },
    async timeline(name, options) {
      named(name, options, { at: anything, before: AROUND, after: AROUND })
      return schedules.timeline(name, options)
    },
    async history(name, options) {
      named(name, options, { before: anything, pageToken: text, limit: wholeUpTo(MAX_PAGE) })
      return schedules.history(name, options)
    },
    async changes(name, options) {
      named(name, options, { pageToken: position, limit: wholeUpTo(MAX_PAGE) })
      return schedules.changes(name, options)
    },
    async sync(definitions, options) {
      check((report) => object(definitions, 'definitions', report))
      checkOptions(options, { ...VERB, source: text, prune: flag, dryRun: flag })
      return schedules.sync(definitions, options)
    },
  }
}
