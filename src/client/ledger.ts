import { EscapementError } from '../errors.js'
import type { RunState } from '../runs/run.js'
import { beforeFirst, boundsOf } from '../schedules/bounds.js'
import type { Grid, SkipReason } from '../schedules/catch-up.js'
import { gridOf } from '../schedules/plan.js'
import type { ScheduleContent } from '../schedules/schedule.js'
import { listContents } from '../store/queries/changes.js'
import { listRunDispositions, listSkipDispositions, type SkipDisposition } from '../store/queries/ledger.js'
import { readSkipRequests } from '../store/queries/skip-requests.js'
import { type ScheduleRow, toPlannable } from '../store/rows.js'
import type { Session } from '../store/store.js'
import { formatInstant, type Instant, type InstantInput } from '../time/instant.js'
import { readAnchor } from '../time/once.js'
import { readOrThrow } from '../time/report.js'
import { compileTiming } from '../time/timing.js'

/** What became, or is to become, of one plan time in one scope. */
export interface Occurrence {
  planTime: Date
  scope: string
  /**
   * `run`: see `runId` and `runState`; `skipped`: see `reason`; `upcoming`: not decided yet, and with a `reason` it is to
   * be skipped.
   */
  disposition: 'run' | 'skipped' | 'upcoming'
  runId: string | null
  runState: RunState | null
  reason: SkipReason | null
}

export interface LedgerRange {
  from: Instant
  to: Instant
}

const MAX_OCCURRENCES = 100_000

/** A range as it was asked for; wall time in the schedule's zone where it has no offset. */
export function readRange(
  { timing }: ScheduleRow,
  range: { from: InstantInput; to: InstantInput },
): LedgerRange {
  const zone = 'zone' in timing ? timing.zone : 'UTC'
  return readOrThrow('option_invalid', (report) => {
    const from = readAnchor(range.from, zone, 'from', report)
    const to = readAnchor(range.to, zone, 'to', report)
    if (from === undefined || to === undefined) return undefined
    return from < to
      ? { from, to }
      : report('to', `${formatInstant(to)} – is not after from, and not in the range`)
  })
}

/**
 * Every plan time of a schedule in a range with its disposition, oldest first. Decided ones come from runs and
 * skips, ranges expanded by the timing of the version that they belong to; what a pause leaves is derived from the
 * state until it ends; the rest is computed ahead.
 */
export async function ledgerOf(
  session: Session,
  row: ScheduleRow,
  { from, to }: LedgerRange,
  now: Instant,
): Promise<Occurrence[]> {
  const found: Occurrence[] = []
  const runs = await listRunDispositions(session, row.id, { from, to }, MAX_OCCURRENCES + 1)
  const ran = new Set(runs.map(({ scope, plan_time }) => keyOf(scope, plan_time.getTime())))
  for (const run of runs) {
    found.push(occurrence(run.plan_time.getTime(), run.scope, { runId: run.id, runState: run.state }))
  }
  refuseTooMany(found)
  for await (const { planTime, scope, reason } of skippedTimes(session, row, { from, to })) {
    if (ran.has(keyOf(scope, planTime))) continue
    found.push(occurrence(planTime, scope, { reason }))
    refuseTooMany(found)
  }
  const limit = MAX_OCCURRENCES - found.length
  for (const upcoming of await undecided(session, row, { from, to }, { now, limit })) found.push(upcoming)
  refuseTooMany(found)
  return found.sort((a, b) => a.planTime.getTime() - b.planTime.getTime() || (a.scope < b.scope ? -1 : 1))
}

interface SkippedTime {
  planTime: Instant
  scope: string
  reason: SkipReason
}

/** How many skipped ranges are read at once. */
const PAGE = 1_000

/**
 * The plan times of skipped ranges, whatever ran of them later, one by one: who has seen enough stops. Each range is
 * expanded by the timing of the version that it belongs to.
 */
export async function* skippedTimes(
  session: Session,
  row: ScheduleRow,
  { from, to }: LedgerRange,
): AsyncGenerator<SkippedTime> {
  const grids = new Map<number, Grid>()
  let after: SkipDisposition | undefined
  for (;;) {
    const page: SkipDisposition[] = await listSkipDispositions(session, row.id, {
      from,
      to,
      after,
      limit: PAGE,
    })
    await addGrids(session, row, page, grids)
    for (const { scope, reason, ...skip } of page) {
      const grid = grids.get(skip.schedule_version)!
      const first = Math.max(skip.first_plan_time.getTime(), from)
      const last = Math.min(skip.last_plan_time.getTime(), to - 1)
      for (const planTime of planTimes(grid, skip.first_plan_time.getTime(), first, last)) {
        yield { planTime, scope, reason }
      }
    }
    if (page.length < PAGE) return
    after = page.at(-1)
  }
}

/** What lies after `decided_through`: skipped by the pause so far, and to come. */
async function undecided(
  session: Session,
  row: ScheduleRow,
  { from, to }: LedgerRange,
  { now, limit }: { now: Instant; limit: number },
): Promise<Occurrence[]> {
  const isActive = row.state === 'active'
  const pauseEnds = isActive
    ? Number.NEGATIVE_INFINITY
    : (row.state_until?.getTime() ?? Number.POSITIVE_INFINITY)
  const requests = (row.has_requests && (await readSkipRequests(session, [row.id])).get(row.id)) || new Set()
  const scopes = row.scopes ?? ['']
  const first = beforeFirst(row.timing, row.start_at.getTime()) + 1
  const start = Math.max(from, row.decided_through.getTime() + 1, first)
  const found: Occurrence[] = []
  if (row.state === 'finished') return found
  const grid = gridOf(toPlannable(row))
  for (let at = grid.next(start - 1); at !== null && at < to; at = grid.next(at)) {
    const pausing =
      at <= pauseEnds ? (row.state === 'broken' ? ('broken' as const) : ('paused' as const)) : null
    const reason = pausing ?? (requests.has(at) ? ('operator' as const) : null)
    const isDecided = pausing !== null && at <= now
    for (const scope of scopes) {
      found.push(isDecided ? occurrence(at, scope, { reason }) : { ...occurrence(at, scope, {}), reason })
    }
    if (found.length > limit) break
  }
  return found
}

function occurrence(
  planTime: Instant,
  scope: string,
  {
    runId = null,
    runState = null,
    reason = null,
  }: Partial<Pick<Occurrence, 'runId' | 'runState' | 'reason'>>,
): Occurrence {
  const disposition = runId !== null ? 'run' : reason !== null ? 'skipped' : 'upcoming'
  return { planTime: new Date(planTime), scope, disposition, runId, runState, reason }
}

/** The grids of the versions that these ranges belong to; of one that the change log does not tell of, today's. */
async function addGrids(
  session: Session,
  row: ScheduleRow,
  page: readonly SkipDisposition[],
  grids: Map<number, Grid>,
): Promise<void> {
  const unknown = new Set(page.map(({ schedule_version }) => schedule_version))
  for (const version of grids.keys()) unknown.delete(version)
  if (unknown.size === 0) return
  for (const version of unknown) grids.set(version, gridOf(toPlannable(row)))
  for (const { version, content } of await listContents(session, row.id, [...unknown])) {
    grids.set(version, gridOfContent(content, row.created_at.getTime()))
  }
}

function gridOfContent(content: ScheduleContent, createdAt: Instant): Grid {
  const { untilAt } = boundsOf(content, createdAt)
  return gridOf({ timing: compileTiming(content.timing), until: untilAt })
}

/** From `first` to `last`, both included; `known` is a plan time even where newer zone data no longer have it. */
function* planTimes(grid: Grid, known: Instant, first: Instant, last: Instant): Generator<Instant> {
  if (known >= first && known <= last) yield known
  let at = grid.next(Math.max(first - 1, known))
  while (at !== null && at <= last) {
    yield at
    at = grid.next(at)
  }
}

function keyOf(scope: string, planTime: Instant): string {
  return `${planTime} ${scope}`
}

function refuseTooMany(found: readonly Occurrence[]): void {
  if (found.length <= MAX_OCCURRENCES) return
  throw new EscapementError('range_too_large', {
    message: `from, to: the range holds more than ${MAX_OCCURRENCES} occurrences. Ask for a shorter one.`,
    details: { limit: MAX_OCCURRENCES },
  })
}
