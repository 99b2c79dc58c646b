import { listEndedPauses } from '../store/queries/planning.js'
import { countSchedules } from '../store/queries/schedule-search.js'
import { listInputs, readNow } from '../store/queries/schedules.js'
import type { ScheduleRow } from '../store/rows.js'
import { quote, type Report, readOrThrow } from '../time/report.js'
import { changeSchedules } from './change.js'
import { closedGates } from './gating.js'
import { expectOwnGroup, isElsewhere } from './own-group.js'
import { type PauseOptions, pausing, resuming, untilOf } from './pausing.js'
import { type SearchOptions, searchSchedules, wordsOf } from './searching.js'
import { type VerbOptions, type VerbParts, withLocked } from './verb.js'

/** Which schedules a verb is for; an empty one is for all. */
export type ScheduleFilter = Pick<SearchOptions, 'q' | 'state' | 'group' | 'job' | 'source'>

/** What `schedules.resumeAll` takes. */
export interface BulkOptions extends VerbOptions {
  /** Only count those that it would change. Gates are not asked then. */
  dryRun?: boolean
  /** Go on with the next time after about so many schedules, at least 1,000; without it, it goes through all. */
  limit?: number
  /** The `nextPageToken` of the report before, with the same filter. */
  pageToken?: string
}

/** What `schedules.pauseAll` takes. */
export interface BulkPauseOptions extends BulkOptions, Pick<PauseOptions, 'reason' | 'until'> {}

export interface BulkReport {
  /** How many it changed, or would change. */
  changed: number
  dryRun: boolean
  /** Goes on where a `limit` ended it; null where it has been through all. */
  nextPageToken: string | null
}

/** Chunks of bulk verbs: each is one transaction, so that many schedules do not hold their locks for long. */
const CHUNK = 1_000

/** Can be repeated: what is paused already stays as it is. */
export async function pauseAll(
  parts: VerbParts,
  filter: ScheduleFilter,
  { reason, until, ...options }: BulkPauseOptions,
): Promise<BulkReport> {
  // One time for all chunks, and refused before the first.
  const end = until === undefined ? undefined : untilOf(until, await readNow(parts.store))
  return changeAll(parts, filter, options, {
    action: 'pause',
    states: ['active', 'broken'],
    change: (context) => {
      // So many that it is over before it has begun for the last: they would be resumed at once.
      if (end !== undefined && end <= context.now) return () => null
      return pausing(context, {
        ...(reason !== undefined && { reason }),
        ...(end !== undefined && { until: end }),
      })
    },
  })
}

/** Those whose gate is closed stay as they are. */
export async function resumeAll(
  parts: VerbParts,
  filter: ScheduleFilter,
  options: BulkOptions,
): Promise<BulkReport> {
  return changeAll(parts, filter, options, {
    action: 'resume',
    states: ['paused', 'broken'],
    change: () => resuming,
    choose: withOpenGates,
  })
}

/** Returns how many changed. */
export async function pauseGroup(
  parts: VerbParts,
  group: string,
  { actor, reason, until }: PauseOptions,
): Promise<number> {
  expectOwnGroup(parts, group)
  const pause = { ...(reason !== undefined && { reason }), ...(until !== undefined && { until }) }
  return (await pauseAll(parts, { group }, { ...pause, ...(actor !== undefined && { actor }) })).changed
}

export async function resumeGroup(parts: VerbParts, group: string, options: VerbOptions): Promise<number> {
  expectOwnGroup(parts, group)
  return (await resumeAll(parts, { group }, options)).changed
}

interface BulkVerb {
  action: string
  /** Those in which it changes something: each is gone through by itself, and all others are passed by. */
  states: readonly ScheduleRow['state'][]
  change: (context: Parameters<typeof pausing>[0]) => ReturnType<typeof pausing>
  /** Those of a chunk that may be changed; asked before anything is locked. */
  choose?: (parts: VerbParts, names: readonly string[]) => Promise<readonly string[]>
}

async function changeAll(
  parts: VerbParts,
  filter: ScheduleFilter,
  { actor, dryRun = false, limit = Number.POSITIVE_INFINITY, pageToken }: BulkOptions,
  { action, states, change, choose = async (_, names) => names }: BulkVerb,
): Promise<BulkReport> {
  const wanted = states.filter((state) => filter.state === undefined || state === filter.state)
  let place = readOrThrow('option_invalid', (report) => {
    refuseNoWords(filter, report)
    return placeOf(wanted, pageToken, report)
  })
  if (isElsewhere(parts, filter)) return { changed: 0, dryRun, nextPageToken: null }
  if (pageToken === undefined) await endPausesOf(parts, filter)
  if (dryRun) return { changed: await count(parts, filter, wanted), dryRun, nextPageToken: null }
  let changed = 0
  for (let seen = 0; place.state !== undefined && seen < limit; seen += CHUNK) {
    const state: ScheduleRow['state'] = place.state
    const page = await searchSchedules(parts, {
      ...filter,
      state,
      limit: CHUNK,
      ...(place.pageToken !== '' && { pageToken: place.pageToken }),
    })
    const names = await choose(
      parts,
      page.schedules.map(({ name }) => name),
    )
    if (names.length > 0) {
      changed += await withLocked(parts, names, { action, actor }, async (context, rows) => {
        const still = rows.filter((row) => wanted.includes(row.state) && isStill(filter, row))
        return (await changeSchedules(context, still, change(context))).length
      })
    }
    place =
      page.nextPageToken === null
        ? { state: wanted[wanted.indexOf(state) + 1], pageToken: '' }
        : { state, pageToken: page.nextPageToken }
  }
  const nextPageToken = place.state === undefined ? null : `${place.state}~${place.pageToken}`
  return { changed, dryRun, nextPageToken }
}

/** A list shows all for it; here that would be all schedules, for somebody who meant a few. */
function refuseNoWords({ q }: ScheduleFilter, report: Report): void {
  if (q === undefined || wordsOf(q).length > 0) return
  report('q', `${quote(q)} – has no letter or digit to find schedules by; leave it out to mean all`)
}

/**
 * One whose pause has ended is listed as paused until a scheduler comes to it, and where none runs that is long: it must not be passed
 * by. What cannot be resumed now, because nobody gives its scopes, say, is left to the schedulers, as it would be without this.
 */
async function endPausesOf(parts: VerbParts, { group }: ScheduleFilter): Promise<void> {
  const own = parts.group ?? group
  const ended = await listEndedPauses(parts.store, CHUNK, own)
  if (ended.length === 0) return
  const names = ended.map(({ name }) => name)
  await withLocked(parts, names, { action: 'resume', actor: undefined }, async () => {}).catch(() => {})
}

function count(parts: VerbParts, { q = '', ...filter }: ScheduleFilter, states: BulkVerb['states']) {
  return countSchedules(parts.store, {
    ...filter,
    group: parts.group ?? filter.group,
    words: wordsOf(q),
    states,
  })
}

/** It may have been edited since it was found. Of words that is not looked at again. */
function isStill({ group, job, source }: ScheduleFilter, row: ScheduleRow): boolean {
  return (
    (group === undefined || row.group === group) &&
    (job === undefined || row.job === job) &&
    (source === undefined || row.source === source)
  )
}

interface Place {
  /** Undefined where all have been gone through. */
  state: ScheduleRow['state'] | undefined
  /** Of the list of those in that state; empty for its beginning. */
  pageToken: string
}

function placeOf(
  states: readonly ScheduleRow['state'][],
  token: string | undefined,
  report: Report,
): Place | undefined {
  if (token === undefined) return { state: states[0], pageToken: '' }
  const [, named, pageToken = ''] = /^([a-z]+)~(.*)$/s.exec(token) ?? []
  const state = states.find((each) => each === named)
  if (state !== undefined) return { state, pageToken }
  return report('pageToken', `${quote(token)} – is of another verb or filter; begin again without it`)
}

async function withOpenGates(parts: VerbParts, names: readonly string[]): Promise<string[]> {
  const closed = await closedGates(parts, await listInputs(parts.store, names))
  const isClosed = new Set(closed.map(({ name }) => name))
  return names.filter((name) => !isClosed.has(name))
}
