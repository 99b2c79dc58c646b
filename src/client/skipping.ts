import { EscapementError } from '../errors.js'
import { actOf } from '../events/schedule-events.js'
import { beforeFirst } from '../schedules/bounds.js'
import { gridOf } from '../schedules/plan.js'
import { findDecision } from '../store/queries/ledger.js'
import { addSkipRequest, removeSkipRequest } from '../store/queries/skip-requests.js'
import { type ScheduleRow, toPlannable } from '../store/rows.js'
import type { Session } from '../store/store.js'
import { formatInstant, type Instant, type InstantInput } from '../time/instant.js'
import { readAnchor } from '../time/once.js'
import { readOrThrow } from '../time/report.js'
import { logAction } from './change.js'
import { settleFirst } from './settling.js'
import { type VerbOptions, type VerbParts, withLockedOne } from './verb.js'

/** Wishes one future plan time away, or takes the wish back. Repeating either changes nothing. */
export async function requestSkip(
  parts: VerbParts,
  verb: 'skip' | 'unskip',
  name: string,
  at: InstantInput,
  { actor }: VerbOptions,
): Promise<void> {
  const refusal = await withLockedOne(parts, name, { action: verb, actor }, (context, row) => {
    const planTime = readPlanTime(row, at)
    return settleFirst(context, row, async (settled) => {
      const isDecided = planTime <= settled.decided_through.getTime()
      const request = { scheduleId: row.id, planTime, by: context.actor, now: context.now }
      // A wish outlives edits of the timing: it can be taken back also where its plan time is none any more.
      const removed = verb === 'unskip' && !isDecided && (await removeSkipRequest(context.session, request))
      if (!removed) {
        expectPlanTime(row, planTime)
        if (isDecided) return alreadyDecided(context.session, row, planTime)
      }
      const added = verb === 'skip' && (await addSkipRequest(context.session, request))
      if (!removed && !added) return
      await logAction(context, settled, `${verb} ${formatInstant(planTime)}`)
      context.acts.push(actOf(verb, row))
    })
  })
  // Thrown after the commit: the run that it names is there.
  if (refusal) throw refusal
}

function readPlanTime({ timing }: ScheduleRow, at: InstantInput): Instant {
  const zone = 'zone' in timing ? timing.zone : 'UTC'
  return readOrThrow('option_invalid', (report) => readAnchor(at, zone, 'planTime', report))
}

function expectPlanTime(row: ScheduleRow, instant: Instant): void {
  const grid = gridOf(toPlannable(row))
  const first = beforeFirst(row.timing, row.start_at.getTime()) + 1
  const found = grid.next(Math.max(instant, first) - 1)
  if (found === instant) return
  const before = grid.previous(instant)
  const near = [before !== null && before >= first ? before : null, found]
    .filter((time) => time !== null)
    .map(formatInstant)
  throw new EscapementError('not_a_plan_time', {
    message: `planTime: ${formatInstant(instant)} is no plan time of "${row.name}". The nearest: ${near.join(', ') || 'none'}.`,
    details: { name: row.name, nearest: near },
  })
}

async function alreadyDecided(session: Session, row: ScheduleRow, planTime: Instant) {
  const decided = await findDecision(session, row.id, planTime)
  const what = decided?.runId
    ? `it became the run ${decided.runId}`
    : `it was skipped (${decided?.reason ?? 'unknown'})`
  return new EscapementError('already_decided', {
    message: `${formatInstant(planTime)} of "${row.name}" is decided already: ${what}.`,
    details: { name: row.name, planTime: formatInstant(planTime), ...decided },
  })
}
