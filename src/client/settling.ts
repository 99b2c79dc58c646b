/**
 * What a verb does first. A plan time belongs to one version: what is due by now, (decided_through, now], is decided under
 * the content and the state that the verb is about to replace, exactly as a tick would decide it. A pause or a
 * breaker has its plan times recorded as such.
 */
import { EscapementError } from '../errors.js'
import { runCreated } from '../events/run-events.js'
import { actOf } from '../events/schedule-events.js'
import { beforeFirst } from '../schedules/bounds.js'
import {
  nextPlanTime,
  type Plannable,
  planOccurrences,
  planSkipped,
  possibleCursor,
  RUNS_AT_ONCE,
} from '../schedules/plan.js'
import { finishSchedules } from '../store/queries/finishing.js'
import { type PlannedSchedule, recordPlans } from '../store/queries/recording.js'
import { adoptCursors } from '../store/queries/schedules.js'
import { readSkipRequests } from '../store/queries/skip-requests.js'
import { type ScheduleRow, toPlannable } from '../store/rows.js'
import type { Instant } from '../time/instant.js'
import { compileTiming } from '../time/timing.js'
import { zoneDataOf } from '../time/zone-data.js'
import type { ChangeContext } from './change-context.js'
import { replaceRuns } from './replacing.js'

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
    return [{ schedule, plan, wakeAt: schedule.state_until?.getTime() ?? null }]
  })
  if (unasked.size > 0) throw new ScopesNeeded([...unasked])
  context.replaced.push(...(await replaceRuns(session, channel, planned)))
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
