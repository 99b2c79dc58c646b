import { EscapementError } from '../errors.js'
import type { RunState } from '../runs/run.js'
import { beforeFirst } from '../schedules/bounds.js'
import type { Grid, SkipReason } from '../schedules/catch-up.js'
import { gridOf } from '../schedules/plan.js'
import { listRunDispositions, listSkipDispositions, type SkipDisposition } from '../store/queries/ledger.js'
import { readSkipRequests } from '../store/queries/skip-requests.js'
import { type ScheduleRow, toPlannable } from '../store/rows.js'
import type { Session } from '../store/store.js'
import { dstNote } from '../time/dst-notes.js'
import { formatInstant, type Instant, type InstantInput } from '../time/instant.js'
import { readAnchor } from '../time/once.js'
import { readOrThrow } from '../time/report.js'
import { addVersions, type Versions } from './timing-versions.js'

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
  /** What the zone did to it, as a preview tells it; null where it did nothing. */
  note: string | null
}

/** The same before the zone has been asked, with the version of the schedule that it belongs to. */
type Found = Omit<Occurrence, 'note'> & { version: number }

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
  const found: Found[] = []
  const versions: Versions = new Map()
  const runs = await listRunDispositions(session, row.id, { from, to }, MAX_OCCURRENCES + 1)
  const ran = new Set(runs.map(({ scope, plan_time }) => keyOf(scope, plan_time.getTime())))
  for (const run of runs) {
    const version = run.schedule_version ?? row.version
    found.push(foundAt(run.plan_time.getTime(), run.scope, version, { runId: run.id, runState: run.state }))
  }
  refuseTooMany(found)
  for await (const { planTime, scope, version, reason } of skippedTimes(session, row, {
    from,
    to,
    versions,
  })) {
    if (ran.has(keyOf(scope, planTime))) continue
    found.push(foundAt(planTime, scope, version, { reason }))
    refuseTooMany(found)
  }
  const limit = MAX_OCCURRENCES - found.length
  for (const upcoming of await undecided(session, row, { from, to }, { now, limit })) found.push(upcoming)
  refuseTooMany(found)
  found.sort((a, b) => a.planTime.getTime() - b.planTime.getTime() || (a.scope < b.scope ? -1 : 1))
  await addVersions(session, row, new Set(found.map(({ version }) => version)), versions)
  return noted(found, versions)
}

interface SkippedTime {
  planTime: Instant
  scope: string
  version: number
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
  { from, to, versions = new Map() }: LedgerRange & { versions?: Versions },
): AsyncGenerator<SkippedTime> {
  let after: SkipDisposition | undefined
  for (;;) {
    const page: SkipDisposition[] = await listSkipDispositions(session, row.id, {
      from,
      to,
      after,
      limit: PAGE,
    })
    await addVersions(session, row, new Set(page.map(({ schedule_version }) => schedule_version)), versions)
    for (const { scope, reason, schedule_version: version, ...skip } of page) {
      const { grid } = versions.get(version)!
      const first = Math.max(skip.first_plan_time.getTime(), from)
      const last = Math.min(skip.last_plan_time.getTime(), to - 1)
      for (const planTime of planTimes(grid, skip.first_plan_time.getTime(), first, last)) {
        yield { planTime, scope, version, reason }
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
): Promise<Found[]> {
  const isActive = row.state === 'active'
  const pauseEnds = isActive
    ? Number.NEGATIVE_INFINITY
    : (row.state_until?.getTime() ?? Number.POSITIVE_INFINITY)
  const requests = (row.has_requests && (await readSkipRequests(session, [row.id])).get(row.id)) || new Set()
  const scopes = row.scopes ?? ['']
  const first = beforeFirst(row.timing, row.start_at.getTime()) + 1
  const start = Math.max(from, row.decided_through.getTime() + 1, first)
  const found: Found[] = []
  if (row.state === 'finished') return found
  const grid = gridOf(toPlannable(row))
  for (let at = grid.next(start - 1); at !== null && at < to; at = grid.next(at)) {
    const pausing =
      at <= pauseEnds ? (row.state === 'broken' ? ('broken' as const) : ('paused' as const)) : null
    const isDecided = pausing !== null && at <= now
    // A wish counts also after the pause: of one that is to come it is told first.
    const reason = requests.has(at) && !isDecided ? ('operator' as const) : pausing
    for (const scope of scopes) {
      const upcoming = foundAt(at, scope, row.version, {})
      found.push(isDecided ? foundAt(at, scope, row.version, { reason }) : { ...upcoming, reason })
    }
    if (found.length > limit) break
  }
  return found
}

function foundAt(
  planTime: Instant,
  scope: string,
  version: number,
  {
    runId = null,
    runState = null,
    reason = null,
  }: Partial<Pick<Occurrence, 'runId' | 'runState' | 'reason'>>,
): Found {
  const disposition = runId !== null ? 'run' : reason !== null ? 'skipped' : 'upcoming'
  return { planTime: new Date(planTime), scope, version, disposition, runId, runState, reason }
}

/** With what the zone did to each. */
function noted(found: readonly Found[], versions: Versions): Occurrence[] {
  let last: { planTime: Instant; version: number; note: string | null } | undefined
  return found.map(({ version, ...occurrence }) => {
    const planTime = occurrence.planTime.getTime()
    if (last?.planTime !== planTime || last.version !== version) {
      const { timing } = versions.get(version)!
      const noteSince = (before: Instant | null) =>
        dstNote(timing.source, planTime, before ?? planTime - 1) ?? null
      const note = last?.version === version ? noteSince(last.planTime) : noteSince(timing.previous(planTime))
      // Where others between them were pruned, the one in the list is not the one before.
      last = { planTime, version, note: note && noteSince(timing.previous(planTime)) }
    }
    return { ...occurrence, note: last.note }
  })
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

function refuseTooMany(found: readonly unknown[]): void {
  if (found.length <= MAX_OCCURRENCES) return
  throw new EscapementError('range_too_large', {
    message: `from, to: the range holds more than ${MAX_OCCURRENCES} occurrences. Ask for a shorter one.`,
    details: { limit: MAX_OCCURRENCES },
  })
}
