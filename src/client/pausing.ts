import { EscapementError } from '../errors.js'
import { findSchedule } from '../store/queries/schedules.js'
import type { ScheduleRow } from '../store/rows.js'
import { type DurationInput, durationToMs } from '../time/duration.js'
import { type Instant, type InstantInput, readInstant } from '../time/instant.js'
import { readOrThrow } from '../time/report.js'
import { changeSchedules } from './change.js'
import type { ChangeContext } from './change-context.js'
import type { ChangedTo } from './changed-row.js'
import { expectOpenGates } from './gating.js'
import { expectVersion } from './schedule-errors.js'
import { type EditOptions, type VerbParts, withLockedOne } from './verb.js'

/** What `schedules.pause` takes. */
export interface PauseOptions extends EditOptions {
  /** Why, for whoever finds it paused. */
  reason?: string
  /** When it resumes by itself: an instant, or a duration from now. */
  until?: InstantInput | { in: DurationInput }
}

/** Returns the schedule as it was last, where it is done and deleted. */
export function pauseOne(
  parts: VerbParts,
  name: string,
  options: PauseOptions,
): Promise<ScheduleRow | undefined> {
  return withLockedOne(parts, name, { action: 'pause', actor: options.actor }, async (context, row) => {
    expectVersion(row, options.expectedVersion)
    await changeSchedules(context, [row], pausing(context, options))
    return context.ended.get(name)
  })
}

/** As {@link pauseOne}. */
export async function resumeOne(
  parts: VerbParts,
  name: string,
  options: EditOptions,
): Promise<ScheduleRow | undefined> {
  const row = await findSchedule(parts.store, name, parts.group)
  if (row && resuming(row)) await expectOpenGates(parts, [row])
  return withLockedOne(parts, name, { action: 'resume', actor: options.actor }, async (context, row) => {
    expectVersion(row, options.expectedVersion)
    await changeSchedules(context, [row], resuming)
    return context.ended.get(name)
  })
}

/** What the options make of a schedule; null where that changes nothing. */
export function pausing({ now, actor }: ChangeContext, options: Pick<PauseOptions, 'reason' | 'until'>) {
  const until = options.until === undefined ? null : untilOf(options.until, now)
  return (row: ScheduleRow): ChangedTo | null => {
    if (row.state === 'finished') return null
    // What broke it stays to be seen.
    const reason = options.reason ?? (row.state === 'broken' ? row.state_reason : null)
    const isSame =
      row.state === 'paused' &&
      row.state_reason === reason &&
      row.state_by === actor &&
      (row.state_until?.getTime() ?? null) === until
    if (isSame) return null
    return { state: { is: 'paused', reason, by: actor, until } }
  }
}

export function resuming(row: ScheduleRow): ChangedTo | null {
  return row.state === 'paused' || row.state === 'broken' ? { state: { is: 'active' } } : null
}

export function untilOf(until: NonNullable<PauseOptions['until']>, now: Instant): Instant {
  const instant =
    typeof until === 'object' && until !== null && 'in' in until
      ? now + durationToMs(until.in, 'until.in')
      : readOrThrow('option_invalid', (report) => readInstant(until, 'until', report))
  if (instant > now) return instant
  throw new EscapementError('option_invalid', {
    message: `until: ${new Date(instant).toISOString()} – has passed; give a time to come, or none`,
  })
}
