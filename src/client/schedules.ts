import { createBreather } from '../breather.js'
import { EscapementError } from '../errors.js'
import { countAhead } from '../schedules/bounds.js'
import { diffContents, type ScheduleDiff } from '../schedules/diff.js'
import {
  type Schedule,
  type ScheduleDefinition,
  type ScheduleState,
  startingAtCreation,
} from '../schedules/schedule.js'
import { type ChangeRow, listChanges } from '../store/queries/changes.js'
import { findSchedule, listSchedules, readNow } from '../store/queries/schedules.js'
import { contentOf, type ScheduleRow, toSchedule } from '../store/rows.js'
import { readTogether, type Session } from '../store/store.js'
import { type Instant, type InstantInput, readInstant } from '../time/instant.js'
import { readOrThrow } from '../time/report.js'
import { type BackfillOptions, type BackfillReport, backfillRuns } from './backfill.js'
import {
  type BulkOptions,
  type BulkPauseOptions,
  type BulkReport,
  pauseAll,
  pauseGroup,
  resumeAll,
  resumeGroup,
  type ScheduleFilter,
} from './bulk-pausing.js'
import { changeSchedules } from './change.js'
import { checkedSchedules } from './checked-schedules.js'
import { definitionOf } from './definition.js'
import type { Enqueued } from './enqueueing.js'
import { type HistoryEntry, type HistoryOptions, readHistory } from './history.js'
import { ledgerOf, type Occurrence, readRange } from './ledger.js'
import { inOwnGroup, isElsewhere } from './own-group.js'
import { type PauseOptions, pauseOne, resumeOne } from './pausing.js'
import { type PlannedOptions, type PlannedPage, plannedSchedules } from './planned.js'
import { previewSchedule, type SchedulePreview } from './previewing.js'
import { declare, putSchedules } from './put.js'
import { deleteLocked } from './removing.js'
import { expectVersion, scheduleExists, scheduleNotFound } from './schedule-errors.js'
import { type SchedulePage, type SearchOptions, searchSchedules } from './searching.js'
import { requestSkip } from './skipping.js'
import { type SyncOptions, type SyncReport, syncSchedules } from './sync.js'
import { type Timeline, type TimelineOptions, timelineOf } from './timeline.js'
import { type TriggerOptions, triggerRun } from './triggering.js'
import { type EditOptions, type VerbOptions, type VerbParts, withLockedOne } from './verb.js'

/** What `schedules.list` takes. */
export interface ListOptions {
  /** Those in this state. */
  state?: ScheduleState
  /** Those of this group. */
  group?: string
  /** Those of this job. */
  job?: string
  /** The beginning of the name. */
  prefix?: string
  /** Continue after this name. */
  after?: string
  /**
   * At most 10,000.
   * @default 100
   */
  limit?: number
}

export const LIST_DEFAULTS = { limit: 100 } satisfies ListOptions

/** What `schedules.put` takes. */
export interface PutOptions extends VerbOptions {
  /**
   * Refuse with `version_conflict` if the schedule is at another version than the one you have seen; 0 refuses with
   * `schedule_exists` if there is one at all.
   */
  expectedVersion?: number
}

/** What `schedules.delete` takes. */
export interface DeleteOptions extends EditOptions {
  /**
   * Whether its runs stay as history, or go with it: then no run, attempt, skip or change of it is left.
   * @default 'keep'
   */
  runs?: 'keep' | 'delete'
}

/** One entry of a schedule's change log. */
export interface ScheduleChange {
  /** What it was called from then on. */
  name: string | null
  version: number
  action: string
  actor: string | null
  before: unknown
  after: unknown
  /** Plan times up to here met what was before. */
  boundary: Date
  changedAt: Date
  /** Gives what follows this entry. */
  pageToken: string
}

/** What `schedules.changes` takes. */
export interface ChangesOptions {
  /** Only what follows the entry that has this token. */
  pageToken?: string
  /**
   * At most 10,000.
   * @default 100
   */
  limit?: number
}

export const CHANGES_DEFAULTS = { limit: 100 } satisfies ChangesOptions

/** Schedules as data: every verb is one transaction, recorded in the change log with its actor. */
export interface Schedules {
  /**
   * Creates the schedule or replaces what it holds; putting the same content again changes nothing. Plan times that
   * are due by now are still decided by the old content.
   *
   * With `deleteWhenDone`, one that has no plan time left by then is deleted at once, and given as it was last,
   * `finished`; so it is for every verb that finds it done.
   */
  put<Input>(name: string, definition: ScheduleDefinition<Input>, options?: PutOptions): Promise<Schedule>
  /** Replaces single fields; null takes an optional one away. */
  patch(name: string, fields: Patch, options?: EditOptions): Promise<Schedule>
  get(name: string): Promise<Schedule>
  /** In the order of their names; the name of the last one continues the list. */
  list(options?: ListOptions): Promise<Schedule[]>
  /**
   * In the order of their names, page by page, also by words. However many schedules there are, a page takes a bounded
   * look: one that finds too little in it is short, or empty, and has a `nextPageToken` all the same.
   */
  search(options?: SearchOptions): Promise<SchedulePage>
  /**
   * Active schedules that have plan times in a range of up to a day, page by page, in looks as bounded as those of `search`. Those that
   * come next in it are the first; one whose cursor moves meanwhile may be given twice, or left out.
   */
  planned(options: PlannedOptions): Promise<PlannedPage>
  /** Plans nothing until it is resumed; runs that exist go on. Its plan times are recorded as `paused`. */
  pause(name: string, options?: PauseOptions): Promise<Schedule>
  /** Goes on with the next plan time to come, never with a stale one. */
  resume(name: string, options?: EditOptions): Promise<Schedule>
  /**
   * Pauses all that a filter finds as {@link Schedules.search} does, all schedules with an empty one, a thousand in each
   * transaction. Those that are paused or finished stay as they are, and so it can be repeated.
   */
  pauseAll(filter: ScheduleFilter, options?: BulkPauseOptions): Promise<BulkReport>
  /** The same for those that are paused or broken. Those whose gate is closed stay as they are. */
  resumeAll(filter: ScheduleFilter, options?: BulkOptions): Promise<BulkReport>
  /** Returns how many it paused. */
  pauseGroup(group: string, options?: PauseOptions): Promise<number>
  resumeGroup(group: string, options?: VerbOptions): Promise<number>
  /** One plan time to come will be recorded as skipped by the operator instead of run. */
  skip(name: string, planTime: InstantInput, options?: VerbOptions): Promise<void>
  unskip(name: string, planTime: InstantInput, options?: VerbOptions): Promise<void>
  /** Runs it now. Returns the run's id. */
  trigger(name: string, options?: TriggerOptions): Promise<string>
  /** The same, and says whether the run is new: not where its key had one already. */
  triggerRun(name: string, options?: TriggerOptions): Promise<Enqueued>
  /** Runs plan times of the past that were skipped. */
  backfill(name: string, options: BackfillOptions): Promise<BackfillReport>
  /** Keeps id and history. */
  rename(name: string, to: string, options?: EditOptions): Promise<Schedule>
  delete(name: string, options?: DeleteOptions): Promise<void>
  /** The next plan times, at most 1,000, with skips and notes on daylight saving; none left is an empty list. */
  preview(name: string, options?: { after?: InstantInput; count?: number }): Promise<SchedulePreview>
  /** Which of the next plan times an edit would remove, move or add, without making it. */
  diff(name: string, fields: Patch, options?: { count?: number }): Promise<ScheduleDiff>
  /** Every plan time from `from` (inclusive) to `to` (exclusive) with its disposition. */
  occurrences(name: string, range: { from: InstantInput; to: InstantInput }): Promise<Occurrence[]>
  /** The occurrences around an instant: so many before it, and so many from it on. */
  timeline(name: string, options?: TimelineOptions): Promise<Timeline>
  /**
   * What became of it, newest first: runs, manual ones too, and skips as ranges. The `pageToken` of the last entry gives
   * the next page.
   */
  history(name: string, options?: HistoryOptions): Promise<HistoryEntry[]>
  /** The change log, newest first. The `pageToken` of the last entry gives the next page. */
  changes(name: string, options?: ChangesOptions): Promise<ScheduleChange[]>
  /** Puts a declared set; with `prune`, deletes what an earlier sync of the same source created and this one does not declare. */
  sync(definitions: Readonly<Record<string, ScheduleDefinition>>, options?: SyncOptions): Promise<SyncReport>
}

export type Patch = { [Field in keyof ScheduleDefinition]?: ScheduleDefinition[Field] | null }

export function createSchedules(parts: VerbParts): Schedules {
  const { store, group } = parts

  async function findRow(name: string, session: Session = store): Promise<ScheduleRow> {
    const row = await findSchedule(session, name, group)
    if (!row) throw await scheduleNotFound(session, name, group)
    return row
  }

  /** Within a group it must still be in it when what belongs to it is read. */
  function about<T>(name: string, read: (session: Session, row: ScheduleRow) => Promise<T>): Promise<T> {
    const look = async (session: Session) => read(session, await findRow(name, session))
    return group === undefined ? look(store) : readTogether(store, look)
  }

  const get = async (name: string) => toSchedule(await findRow(name))

  /** A schedule that a verb has finished and, as it asked for, deleted is given as it was last. */
  const lastOrNow = async (name: string, last: ScheduleRow | undefined) =>
    last ? toSchedule(last) : get(name)

  function patched(row: ScheduleRow, fields: Patch): ScheduleDefinition {
    const merged = { ...definitionOf(contentOf(row)), ...fields }
    const given = Object.entries(merged).filter(([, value]) => value !== null && value !== undefined)
    return Object.fromEntries(given) as unknown as ScheduleDefinition
  }

  const schedules: Schedules = {
    async put(name, definition, { actor, expectedVersion } = {}) {
      const own = inOwnGroup(parts, definition as ScheduleDefinition)
      const declared = await declare(parts, [{ name, definition: own }])
      const { ended } = await putSchedules(parts, { declared, action: 'put', actor, expectedVersion })
      return lastOrNow(name, ended.get(name))
    },
    async patch(name, fields, options = {}) {
      // The version makes it one step: an edit between reading and writing is not overwritten but read again.
      const row = await findRow(name)
      expectVersion(row, options.expectedVersion)
      const declared = await declare(parts, [{ name, definition: patched(row, fields) }])
      const request = { declared, action: 'patch', actor: options.actor, expectedVersion: row.version }
      try {
        const { ended } = await putSchedules(parts, request)
        return await lastOrNow(name, ended.get(name))
      } catch (error) {
        const isRace = error instanceof EscapementError && error.code === 'version_conflict'
        if (isRace && options.expectedVersion === undefined) return schedules.patch(name, fields, options)
        throw error
      }
    },
    get,
    async list({ after = '', limit = LIST_DEFAULTS.limit, ...filter } = {}) {
      if (isElsewhere(parts, filter)) return []
      const own = { ...filter, ...(group !== undefined && { group }) }
      return (await listSchedules(store, own, { after, limit })).map(toSchedule)
    },
    search: (options = {}) => searchSchedules(parts, options),
    planned: (options) => plannedSchedules(parts, options),
    async pause(name, options = {}) {
      return lastOrNow(name, await pauseOne(parts, name, options))
    },
    async resume(name, options = {}) {
      return lastOrNow(name, await resumeOne(parts, name, options))
    },
    pauseAll: (filter, options = {}) => pauseAll(parts, filter, options),
    resumeAll: (filter, options = {}) => resumeAll(parts, filter, options),
    pauseGroup: (group, options = {}) => pauseGroup(parts, group, options),
    resumeGroup: (group, options = {}) => resumeGroup(parts, group, options),
    skip: (name, planTime, options = {}) => requestSkip(parts, 'skip', name, planTime, options),
    unskip: (name, planTime, options = {}) => requestSkip(parts, 'unskip', name, planTime, options),
    trigger: async (name, options = {}) => (await triggerRun(parts, name, options)).id,
    triggerRun: (name, options = {}) => triggerRun(parts, name, options),
    backfill: (name, options) => backfillRuns(parts, name, options),
    async rename(name, to, { actor, expectedVersion } = {}) {
      const [declared] = await declare(parts, [
        { name: to, definition: definitionOf(contentOf(await findRow(name))) },
      ])
      const last = await withLockedOne(parts, name, { action: 'rename', actor }, async (context, row) => {
        expectVersion(row, expectedVersion)
        if (await findSchedule(context.session, to)) throw scheduleExists(to)
        await changeSchedules(context, [row], () => ({ name: declared!.name })).catch((error) => {
          throw (error as { code?: string }).code === '23505' ? scheduleExists(to) : error
        })
        return context.ended.get(to)
      })
      return lastOrNow(to, last)
    },
    async delete(name, { actor, expectedVersion, runs = 'keep' } = {}) {
      await withLockedOne(parts, name, { action: 'delete', actor }, async (context, row) => {
        expectVersion(row, expectedVersion)
        await deleteLocked(context, [row], runs)
      })
    },
    preview: (name, { after, count = 10 } = {}) =>
      about(name, async (session, row) => {
        const from = after === undefined ? await readNow(session) : instant(after, 'after')
        return previewSchedule(session, row, { after: from, count })
      }),
    async diff(name, fields, { count = 10 } = {}) {
      const row = await findRow(name)
      const [declared] = await declare(parts, [{ name, definition: patched(row, fields) }])
      const now = await readNow(store)
      const createdAt = row.created_at.getTime()
      const content = startingAtCreation(declared!.content, createdAt)
      const rest = createBreather()
      await countAhead(content, createdAt, rest)
      return diffContents(contentOf(row), content, { now, count, createdAt }, rest)
    },
    occurrences: (name, { from, to }) =>
      readTogether(store, async (session) => {
        const row = await findRow(name, session)
        return ledgerOf(session, row, readRange(row, { from, to }), await readNow(session))
      }),
    timeline: (name, options = {}) =>
      readTogether(store, async (session) =>
        timelineOf(session, await findRow(name, session), options, await readNow(session)),
      ),
    history: (name, options = {}) => about(name, (session, { id }) => readHistory(session, id, options)),
    changes: (name, { pageToken = null, limit = CHANGES_DEFAULTS.limit } = {}) =>
      about(name, async (session, { id }) =>
        (await listChanges(session, id, { before: pageToken, limit })).map(toChange),
      ),
    sync: (definitions, options = {}) => syncSchedules(parts, definitions, options),
  }
  return checkedSchedules(schedules)
}

function toChange(row: ChangeRow): ScheduleChange {
  return {
    name: row.name,
    version: row.version,
    action: row.action,
    actor: row.actor,
    before: row.before,
    after: row.after,
    boundary: row.boundary,
    changedAt: row.changed_at,
    pageToken: row.position,
  }
}

function instant(input: InstantInput, field: string): Instant {
  return readOrThrow('option_invalid', (report) => readInstant(input, field, report))
}
