import { EscapementError } from '../errors.js'
import { findSchedule, listGroup, listInputs } from '../store/queries/schedules.js'
import type { ScheduleRow } from '../store/rows.js'
import { type DurationInput, durationToMs } from '../time/duration.js'
import { type Instant, type InstantInput, readInstant } from '../time/instant.js'
import { readOrThrow } from '../time/report.js'
import { changeSchedules } from './change.js'
import type { ChangeContext } from './change-context.js'
import type { ChangedTo } from './changed-row.js'
import { closedGates, expectOpenGates } from './gating.js'
import { expectOwnGroup } from './own-group.js'
import { expectVersion } from './schedule-errors.js'
import { type EditOptions, type VerbParts, withLocked, withLockedOne } from './verb.js'

export interface PauseOptions extends EditOptions {
  /** Why, for whoever finds it paused. */
  reason?: string
  /** When it resumes by itself: an instant, or a duration from now. */
  until?: InstantInput | { in: DurationInput }
}

/** Chunks of bulk verbs: each is one transaction, so that a large group does not hold its locks for long. */
const CHUNK = 1_000

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

/** Returns how many changed. Can be repeated: what is paused already stays as it is. */
export async function pauseGroup(parts: VerbParts, group: string, options: PauseOptions): Promise<number> {
  expectOwnGroup(parts, group)
  return inChunks(parts, group, { action: 'pause', actor: options.actor }, (context) => {
    const pause = pausing(context, options)
    return (row) => (row.state === 'paused' ? null : pause(row))
  })
}

/** Those whose gate is closed stay as they are. */
export async function resumeGroup(parts: VerbParts, group: string, options: EditOptions): Promise<number> {
  expectOwnGroup(parts, group)
  return inChunks(parts, group, { action: 'resume', actor: options.actor }, () => resuming, withOpenGates)
}

async function withOpenGates(parts: VerbParts, names: readonly string[]): Promise<string[]> {
  const closed = await closedGates(parts, await listInputs(parts.store, names))
  const isClosed = new Set(closed.map(({ name }) => name))
  return names.filter((name) => !isClosed.has(name))
}

async function inChunks(
  parts: VerbParts,
  group: string,
  options: { action: string; actor: string | undefined },
  changeFor: (context: ChangeContext) => (row: ScheduleRow) => ChangedTo | null,
  choose: (parts: VerbParts, names: readonly string[]) => Promise<readonly string[]> = async (_, names) =>
    names,
): Promise<number> {
  let changed = 0
  let after = ''
  for (;;) {
    const names = await listGroup(parts.store, group, { after, limit: CHUNK })
    if (names.length === 0) return changed
    changed += await withLocked(parts, await choose(parts, names), options, async (context, rows) => {
      const still = rows.filter((row) => row.group === group)
      return (await changeSchedules(context, still, changeFor(context))).length
    })
    after = names.at(-1)!
  }
}

function pausing({ now, actor }: ChangeContext, options: PauseOptions) {
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

function resuming(row: ScheduleRow): ChangedTo | null {
  return row.state === 'paused' || row.state === 'broken' ? { state: { is: 'active' } } : null
}

function untilOf(until: NonNullable<PauseOptions['until']>, now: Instant): Instant {
  const instant =
    typeof until === 'object' && until !== null && 'in' in until
      ? now + durationToMs(until.in, 'until.in')
      : readOrThrow('option_invalid', (report) => readInstant(until, 'until', report))
  if (instant > now) return instant
  throw new EscapementError('option_invalid', {
    message: `until: ${new Date(instant).toISOString()} – has passed; give a time to come, or none`,
  })
}
