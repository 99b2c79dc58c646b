/**
 * What every verb does. It locks the cursors of its schedules, reads the time, **settles** what is due by then under
 * the content and state that it is about to replace, exactly as a tick would, and then writes what it changes
 * with a new cursor after that boundary. So a plan time belongs to one version, an edit never undoes or repeats a decision, and
 * the change log can tell which version each plan time met.
 */
import { isDeepStrictEqual } from 'node:util'
import { EscapementError } from '../errors.js'
import type { RunEvent } from '../events/bus.js'
import { runCreated } from '../events/run-events.js'
import { actOf, type ScheduleAct } from '../events/schedule-events.js'
import { beforeFirst, boundsOf, type PlanTimeBounds, type PlanTimeFields } from '../schedules/bounds.js'
import {
  firstAfter,
  nextPlanTime,
  type Plannable,
  planOccurrences,
  planSkipped,
  possibleCursor,
  RUNS_AT_ONCE,
} from '../schedules/plan.js'
import type { ScheduleContent, ScheduleState } from '../schedules/schedule.js'
import { replaceOpen } from '../store/queries/cancelling.js'
import { enterLanes, leaveLanes, listOpenSchedules } from '../store/queries/lanes.js'
import {
  finishSchedules,
  type PlannedSchedule,
  readSkipRequests,
  recordPlans,
} from '../store/queries/planning.js'
import {
  adoptCursors,
  findSchedules,
  insertChanges,
  updateSchedules,
  type Written,
} from '../store/queries/schedules.js'
import { contentOf, type ScheduleRow, toPlannable } from '../store/rows.js'
import type { Session } from '../store/store.js'
import { durationToMs } from '../time/duration.js'
import type { Instant } from '../time/instant.js'
import { compileTiming } from '../time/timing.js'
import { zoneDataOf } from '../time/zone-data.js'
import type { ProvidedScopes } from './scopes.js'

/** What a verb wants a schedule to be; null where it wants no change. */
export type Change = (row: ScheduleRow) => ChangedTo | null

export interface ChangedTo {
  name?: string
  content?: ScheduleContent
  state?: { is: ScheduleState; reason?: string | null; by?: string | null; until?: Instant | null }
  /** Whether a run of it is open: of an `after` timing the next plan time hangs on its end. */
  hasOpenRun?: boolean
  /** Only what a person does makes a new version: nobody's `expectedVersion` is spoiled by a pause that ends. */
  isEdit?: false
}

export interface ChangeContext {
  session: Session
  channel: string
  now: Instant
  action: string
  actor: string | null
  scopes: ProvidedScopes
  /** What is told once the transaction has committed. */
  acts: ScheduleAct[]
  /** The runs among it. */
  created: RunEvent[]
  /** Schedules that are deleted since they are done, as they were last, by name. */
  ended: Map<string, ScheduleRow>
  /** The version of the zone data that this process computes with. */
  zoneData: string
}

/** Thrown where more is due than one transaction settles; whoever began it settles the rest first. */
export class BacklogLeft extends Error {}

/** Thrown where plan times are to be decided whose scopes nobody has asked for; whoever began it asks first. */
export class ScopesNeeded extends Error {
  readonly jobs: readonly string[]

  constructor(jobs: readonly string[]) {
    super(`the scopes of ${jobs.join(', ')} are needed`)
    this.jobs = jobs
  }
}

/** Settles and changes rows whose cursors are locked. Returns the ids of those that changed. */
export async function changeSchedules(
  context: ChangeContext,
  rows: readonly ScheduleRow[],
  change: Change,
): Promise<string[]> {
  const changes = rows.flatMap((row) => {
    const to = change(row)
    return to === null ? [] : [{ row, to }]
  })
  if (changes.length === 0) return []
  const isSettled = await settle(
    context,
    changes.map(({ row }) => row),
  )
  if (!isSettled) throw new BacklogLeft()
  await changeLanes(context, changes)
  const open = await openRunsOf(context, changes)
  const written = changes.map(({ row, to }) =>
    writtenOf(context, row, { ...to, hasOpenRun: open.has(row.id) }),
  )
  await writeSchedules(
    context,
    changes.map(({ row }) => row),
    written,
  )
  return written.map(({ id }) => id)
}

/** Writes rows whose cursors are locked, and deletes those that are finished and ask for it. */
export async function writeSchedules(
  context: ChangeContext,
  rows: readonly ScheduleRow[],
  written: readonly Written[],
): Promise<void> {
  await updateSchedules(context.session, written, context.now)
  const deleted = await deleteDone(context, written)
  const states = new Map(rows.map(({ id, state }) => [id, state]))
  for (const one of written) {
    const isFinished = one.state === 'finished' && states.get(one.id) !== 'finished'
    context.acts.push(actOf(context.action, one, { isFinished, isDeleted: deleted.has(one.id) }))
  }
}

/** That they are finished is in the change that was just written; that they are deleted is another. */
export async function deleteDone(
  { session, ended }: ChangeContext,
  written: readonly Written[],
): Promise<Set<string>> {
  const done = written.filter(({ state, content }) => state === 'finished' && content.policies.deleteWhenDone)
  if (done.length === 0) return new Set()
  const last = await findSchedules(
    session,
    done.map(({ id }) => id),
  )
  for (const row of last) ended.set(row.name, row)
  const deleted = await finishSchedules(
    session,
    done.map(({ id }) => ({ id, deleteWhenDone: true })),
  )
  return new Set(deleted.map(({ id }) => id))
}

/** In a statement after the lock: what ended before we had it must not be missed. */
async function openRunsOf(
  { session }: ChangeContext,
  changes: readonly { row: ScheduleRow; to: ChangedTo }[],
): Promise<Set<string>> {
  const after = changes.filter(({ row, to }) => (to.content ?? row).timing.kind === 'after')
  if (after.length === 0) return new Set()
  return listOpenSchedules(
    session,
    after.map(({ row }) => row.id),
  )
}

/** Open runs follow the overlap policy as it is now. */
async function changeLanes(
  { session }: ChangeContext,
  changes: readonly { row: ScheduleRow; to: ChangedTo }[],
): Promise<void> {
  const allows = ({ policies }: { policies: ScheduleContent['policies'] }) => policies.overlap === 'allow'
  const turned = changes.filter(({ row, to }) => to.content && allows(to.content) !== allows(row))
  const ids = (allowing: boolean) =>
    turned.filter(({ to }) => allows(to.content!) === allowing).map(({ row }) => row.id)
  if (ids(false).length > 0) await enterLanes(session, ids(false))
  if (ids(true).length > 0) await leaveLanes(session, ids(true))
}

/**
 * Ends pauses and cooldowns whose time has come: plan times up to that time were paused, those after it are the scheduler's, however
 * late somebody comes to look. Returns whether there were any.
 */
export async function endPauses(context: ChangeContext, rows: readonly ScheduleRow[]): Promise<boolean> {
  const endOf = (row: ScheduleRow) =>
    row.state === 'paused' || row.state === 'broken' ? ms(row.state_until) : null
  const ended = rows.filter((row) => (endOf(row) ?? Number.POSITIVE_INFINITY) <= context.now)
  for (const until of new Set(ended.map(endOf))) {
    const together = ended.filter((row) => endOf(row) === until)
    const at = { ...context, now: until!, action: 'resume', actor: null }
    await changeSchedules(at, together, () => ({ state: { is: 'active' }, isEdit: false }))
  }
  return ended.length > 0
}

/** How many plan times of one schedule one transaction settles: a long backlog takes several. */
const SETTLED_AT_ONCE = 5_000

/**
 * Decides what is due by now under the content and the state that the rows have. Returns whether all of it is decided:
 * of a long backlog, or of many rows with many runs, only a part is, to be committed before the rest.
 */
export async function settle(context: ChangeContext, rows: readonly ScheduleRow[]): Promise<boolean> {
  const { session, channel, now, scopes, zoneData } = context
  const strayed = rows.filter(({ cursor_version, version }) => cursor_version !== version)
  if (strayed.length > 0) {
    await adoptCursors(
      session,
      strayed.map(({ id }) => id),
    )
  }
  const requested = rows.filter(({ has_requests }) => has_requests).map(({ id }) => id)
  const requests = await readSkipRequests(session, requested)
  const unasked = new Set<string>()
  let mostRuns = RUNS_AT_ONCE
  // What has waited longest comes first: where one transaction cannot do, the next one goes on with the others.
  const waiting = rows.toSorted((a, b) => a.decided_through.getTime() - b.decided_through.getTime())
  const planned = waiting.flatMap((schedule): (PlannedSchedule & { schedule: ScheduleRow })[] => {
    // Its timing cannot be computed: there is nothing to decide, and whoever changes it is about to mend it.
    if (schedule.plan_error !== null && !isComputable(schedule)) return []
    const isUnasked = schedule.scopes === null && !scopes.has(schedule.job)
    const provided = schedule.scopes === null ? scopes.get(schedule.job) : undefined
    const plannable = toPlannable(schedule, provided ?? [])
    if (schedule.state === 'active') {
      const nextAt = trustedCursor(schedule, plannable, zoneData)
      const isDue = nextAt !== null && nextAt <= now
      if (isDue && isUnasked) unasked.add(schedule.job)
      if (isDue && provided === null && !isGivenUp(context, nextAt)) throw providerMissing(schedule)
      if (isDue && mostRuns <= 0) return []
      const limits = { budget: SETTLED_AT_ONCE, mostRuns }
      const plan = planOccurrences({ ...plannable, nextAt }, now, requests.get(schedule.id), limits)
      mostRuns -= plan.runs.length + plan.skips.length
      return [{ schedule, plan, wakeAt: plan.nextAt }]
    }
    if (schedule.state === 'finished') return []
    const plan = { ...pausedPlan(schedule, plannable, now), nextAt: null }
    if (isUnasked && plan.skips.length > 0) unasked.add(schedule.job)
    return [{ schedule, plan, wakeAt: ms(schedule.state_until) }]
  })
  if (unasked.size > 0) throw new ScopesNeeded([...unasked])
  await replaceOpen(session, planned)
  const created = new Set(planned.length > 0 ? await recordPlans(session, planned, channel) : [])
  for (const { schedule, plan } of planned) {
    const runs = plan.runs.filter(({ id }) => created.has(id))
    context.created.push(...runs.map((run) => runCreated(run, schedule)))
  }
  return mostRuns > 0 && planned.every(({ plan }) => plan.decidedThrough >= now)
}

/**
 * Settles one row for a verb that changes nothing of it, and goes on with the row as it is then. A schedule that is done by
 * that is finished afterwards, as a tick would have it. One whose timing this program cannot compute is not settled.
 */
export async function settleFirst<T>(
  context: ChangeContext,
  row: ScheduleRow,
  then: (settled: ScheduleRow) => Promise<T>,
): Promise<T> {
  if (!isComputable(row)) return then(row)
  if (!(await settle(context, [row]))) throw new BacklogLeft()
  const decided = Math.max(context.now, row.decided_through.getTime())
  const result = await then({ ...row, decided_through: new Date(decided) })
  const after = Math.max(decided, beforeFirst(row.timing, row.start_at.getTime()))
  // Of an `after` timing the next plan time hangs on what the verb does.
  if (row.timing.kind === 'after') return result
  if (row.state === 'active' && nextPlanTime(toPlannable(row), after) === null) await finish(context, row)
  return result
}

async function finish(context: ChangeContext, row: ScheduleRow): Promise<void> {
  const done = [{ id: row.id, deleteWhenDone: row.policies.deleteWhenDone }]
  for (const { is_deleted } of await finishSchedules(context.session, done)) {
    context.acts.push(actOf('finish', row, { isDeleted: is_deleted }))
  }
}

/**
 * The first plan time that is not decided. A cursor that is missing, behind or too far ahead is damaged: what lies before
 * it would be lost, since all up to now counts as decided afterwards. One that other zone data have computed may differ.
 */
function trustedCursor(row: ScheduleRow, plannable: Plannable, zoneData: string): Instant | null {
  const after = Math.max(row.decided_through.getTime(), beforeFirst(row.timing, row.start_at.getTime()))
  const isOfOtherData = row.zone_data !== zoneDataOf(row.timing, zoneData)
  return isOfOtherData ? possibleCursor(plannable, after) : nextPlanTime(plannable, after)
}

/** How long a verb is refused because a scope provider fails: a scheduler may have more luck meanwhile. */
const PROVIDER_GRACE_MS = 60_000

/** Whether plan times are recorded without scopes, since nobody can name them and the verb must not wait for ever. */
function isGivenUp({ action, now }: ChangeContext, dueSince: Instant): boolean {
  return action === 'pause' || action === 'delete' || dueSince <= now - PROVIDER_GRACE_MS
}

function isComputable({ timing }: ScheduleRow): boolean {
  try {
    compileTiming(timing)
    return true
  } catch {
    return false
  }
}

function providerMissing({ name, job }: ScheduleRow): EscapementError {
  return new EscapementError('provider_failed', {
    message: `"${name}" has plan times that are due and not decided yet, and only a process with the job "${job}" can name their scopes. Try again in a moment.`,
    details: { name, job },
  })
}

/** What a pause or a breaker has left undecided, through an instant. */
function pausedPlan(row: ScheduleRow, plannable: Plannable, through: Instant) {
  const after = Math.max(row.decided_through.getTime(), beforeFirst(row.timing, row.start_at.getTime()))
  return planSkipped(plannable, { after, through, reason: row.state === 'broken' ? 'broken' : 'paused' })
}

/** The cursor where everything up to `decided` is decided. */
export function cursorAfter(content: ScheduleContent, bounds: PlanTimeBounds, decided: Instant) {
  const schedule = { timing: compileTiming(content.timing), until: bounds.untilAt }
  return nextPlanTime(schedule, Math.max(decided, beforeFirst(content.timing, bounds.startAt)))
}

/** The row as a change leaves it, where everything up to `decidedThrough` is decided. */
export function writtenOf(
  { now, action, actor, zoneData }: ChangeContext,
  row: ScheduleRow,
  to: ChangedTo,
  known: { bounds?: PlanTimeBounds; decidedThrough?: Instant } = {},
): Written {
  const before = contentOf(row)
  const content = to.content ?? before
  const bounds = known.bounds ?? boundsAfter(row, content, zoneData)
  const { decidedThrough = Math.max(now, row.decided_through.getTime()) } = known
  const state = to.state ?? {
    is: row.state,
    reason: row.state_reason,
    by: row.state_by,
    until: ms(row.state_until),
  }
  const isAfter = content.timing.kind === 'after'
  const nextAt =
    state.is !== 'active'
      ? null
      : isAfter
        ? cursorOfAfter(row, to, { content, bounds, decidedThrough, now })
        : cursorAfter(content, bounds, decidedThrough)
  const waitsForRun = isAfter && to.hasOpenRun
  const is = state.is === 'active' && nextAt === null && !waitsForRun ? 'finished' : state.is
  return {
    id: row.id,
    name: to.name ?? row.name,
    version: to.isEdit === false ? row.version : row.version + 1,
    content,
    source: row.source,
    state: is,
    stateReason: state.reason ?? null,
    stateBy: state.by ?? null,
    stateSince: is === row.state ? row.state_since.getTime() : now,
    stateUntil: state.until ?? null,
    untilAt: bounds.untilAt,
    startAt: bounds.startAt,
    nextAt,
    wakeAt: nextAt ?? state.until ?? null,
    decidedThrough,
    zoneData: zoneDataOf(content.timing, zoneData),
    afterMs: content.timing.kind === 'after' ? durationToMs(content.timing.interval) : null,
    counted: isAfter && isSameGrid(before, content) ? null : 0,
    failures: failuresAfter(row, to),
    change: { action, actor, before, after: content },
  }
}

/**
 * Of an `after` timing: what waits goes on waiting; what is enabled, or gets another interval, counts from now. While a
 * run is open there is none.
 */
function cursorOfAfter(
  row: ScheduleRow,
  { hasOpenRun }: ChangedTo,
  to: {
    content: ScheduleContent
    bounds: ReturnType<typeof boundsOf>
    decidedThrough: Instant
    now: Instant
  },
): Instant | null {
  const { content, bounds, decidedThrough, now } = to
  const isSame = isSameGrid(contentOf(row), content)
  const isSettled = row.next_at !== null && row.next_at.getTime() <= now
  const counted = isSame ? row.counted + Number(isSettled) : 0
  if (hasOpenRun || (content.limit !== null && counted >= content.limit)) return null
  if (isSame && row.state === 'active' && row.next_at !== null && !isSettled) return row.next_at.getTime()
  const schedule = { timing: compileTiming(content.timing), until: bounds.untilAt }
  return firstAfter(schedule, { from: now, startAt: Math.max(bounds.startAt, decidedThrough + 1) })
}

function isSameGrid(a: ScheduleContent, b: ScheduleContent): boolean {
  return isDeepStrictEqual([a.timing, a.startAt], [b.timing, b.startAt])
}

/** What a person does begins anew. A cooldown that ends leaves one failure to go: the next run is its probe. */
function failuresAfter(row: ScheduleRow, { isEdit }: ChangedTo): number | null {
  if (isEdit !== false) return 0
  return row.state === 'broken' ? Math.max(0, (row.policies.breaker?.failures ?? 1) - 1) : null
}

/** A limit is counted out only where that can have another result than the last time. */
function boundsAfter(row: ScheduleRow, content: ScheduleContent, zoneData: string): PlanTimeBounds {
  const isSame =
    row.zone_data === zoneDataOf(row.timing, zoneData) &&
    isDeepStrictEqual(planTimeFields(contentOf(row)), planTimeFields(content))
  if (!isSame) return boundsOf(content, row.created_at.getTime())
  return { startAt: row.start_at.getTime(), untilAt: ms(row.until_at) }
}

export function planTimeFields({ timing, startAt, endAt, limit }: ScheduleContent): PlanTimeFields {
  return { timing, startAt, endAt, limit }
}

function ms(date: Date | null): Instant | null {
  return date === null ? null : date.getTime()
}

/** An entry in the change log for what changes no content. */
export function logAction(context: ChangeContext, row: ScheduleRow, action: string): Promise<void> {
  const { session, actor, now } = context
  const { id, name, version, state, decided_through } = row
  const boundary = decided_through.getTime()
  return insertChanges(
    session,
    [{ id, name, version, action, actor, before: null, after: null, state, boundary }],
    now,
  )
}
