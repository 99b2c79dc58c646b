/**
 * Recomputes the plan times of every schedule, version by version as the change log tells them, and compares them with
 * the ledger. It covers what is decided: (ledger_from, decided_through] of each schedule, read in one snapshot.
 *
 * It computes with the zone data of this process. Where the plan times of a timing that follows a zone were computed with
 * other data, the two may differ and both be right: then a plan time without an answer, and an answer without a plan
 * time, is a `zone_data` finding and proves no mistake. A plan time after `zone_data_from` was computed with the
 * schedule's `zone_data`; one before it with what its change row says, or with something between the two that nobody
 * wrote down, since newer data that moved no cursor leave no row. Two answers to one plan time are a mistake under any data.
 */
import { runIdOf } from '../runs/run-id.js'
import { boundsOf } from '../schedules/bounds.js'
import type { Grid, SkipReason } from '../schedules/catch-up.js'
import type { ScheduleContent, ScheduleState } from '../schedules/schedule.js'
import {
  type AuditedChange,
  type AuditedRun,
  type AuditedSchedule,
  readAuditPage,
} from '../store/queries/auditing.js'
import { readNow } from '../store/queries/schedules.js'
import type { Store } from '../store/store.js'
import { formatInstant, type Instant } from '../time/instant.js'
import { zoneDataOf } from '../time/zone-data.js'
import { gridOfContent } from './ledger.js'

export interface AuditOptions {
  /** Plan times from here on, inclusive; without it, all that the ledgers cover. */
  from?: Instant
  /** Plan times before this, exclusive. */
  to?: Instant
}

export interface Finding {
  schedule: string
  scope: string
  planTime: string
  detail: string
}

export interface AuditReport {
  schedules: number
  occurrences: number
  /** Plan times without an answer. */
  missing: Finding[]
  /** Plan times with two answers. */
  double: Finding[]
  /** Answers to plan times that nobody expected. */
  unexpected: Finding[]
  /** Differences where the plan times were computed with other zone data than this process has: no mistakes. */
  zoneData: Finding[]
}

const PAGE = 200

export async function audit(
  store: Store,
  zoneData: string,
  options: AuditOptions = {},
): Promise<AuditReport> {
  const report: AuditReport = {
    schedules: 0,
    occurrences: 0,
    missing: [],
    double: [],
    unexpected: [],
    zoneData: [],
  }
  await store.transaction(async (session, tx) => {
    await tx.script('set transaction isolation level repeatable read, read only')
    const now = await readNow(session)
    let after = '00000000-0000-0000-0000-000000000000'
    for (;;) {
      const page = await readAuditPage(session, { after, limit: PAGE, ...options })
      if (page.length === 0) return
      after = page.at(-1)!.id
      for (const schedule of page) {
        auditSchedule(schedule, options, { now, zoneData }, report)
        // Handlers and leases of this process go on meanwhile.
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
  })
  return report
}

/** How late a scheduler may be before what it has not decided counts as missing. */
const OVERDUE_MS = 60_000

/** The first plan time that a scheduler ought to have decided; null where it is not late. */
function overdueSince(schedule: AuditedSchedule, segment: Segment | undefined, now: Instant): Instant | null {
  if (schedule.state !== 'active' || segment === undefined) return null
  const first = segment.grid.next(Math.max(schedule.decided_through.getTime(), segment.startAt - 1))
  return first !== null && first < now - OVERDUE_MS ? first : null
}

/** A stretch of time in which one version and one state held. */
interface Segment {
  after: Instant
  through: Instant
  state: ScheduleState
  scopes: readonly string[] | null
  startAt: Instant
  grid: Grid
  /** What its plan times were computed with at first; null where they follow no zone. */
  zoneData: string | null
}

function auditSchedule(
  schedule: AuditedSchedule,
  { from, to }: AuditOptions,
  { now, zoneData }: { now: Instant; zoneData: string },
  report: AuditReport,
): void {
  report.schedules += 1
  const after = Math.max(schedule.ledger_from.getTime(), (from ?? Number.NEGATIVE_INFINITY) - 1)
  const through = Math.min(schedule.decided_through.getTime(), (to ?? Number.POSITIVE_INFINITY) - 1)
  const answers = collectAnswers(schedule, {
    after,
    through: to === undefined ? Number.POSITIVE_INFINITY : through,
  })
  const finding = (scope: string, planTime: Instant, detail: string): Finding => ({
    schedule: schedule.is_deleted ? `${schedule.name ?? schedule.id} (deleted)` : schedule.name!,
    scope,
    planTime: formatInstant(planTime),
    detail,
  })
  /** A difference between the ledger and the plan times as this process computes them. */
  const differs = (kind: 'missing' | 'unexpected', scope: string, at: Instant, detail: string) => {
    const other = otherZoneData(schedule, segments, at, zoneData)
    if (other === null) report[kind].push(finding(scope, at, detail))
    else
      report.zoneData.push(finding(scope, at, `${detail}; computed with ${other}, audited with ${zoneData}`))
  }

  const segments = segmentsOf(schedule, (from, detail) => report.missing.push(finding('', from, detail)))
  for (const segment of segments) {
    const start = Math.max(segment.after, after, segment.startAt - 1)
    const end = Math.min(segment.through, through)
    for (let at = segment.grid.next(start); at !== null && at <= end; at = segment.grid.next(at)) {
      const scopes = segment.scopes ?? answers.scopesAt(at)
      if (scopes.length === 0) differs('missing', '', at, 'no scope has an answer')
      for (const scope of scopes) {
        report.occurrences += 1
        const { runs, skips } = answers.take(scope, at)
        if (runs.length + skips.length === 0) differs('missing', scope, at, `${segment.state}, no answer`)
        if (runs.length > 1) report.double.push(finding(scope, at, `${runs.length} runs`))
        if (skips.length > 1) report.double.push(finding(scope, at, `${skips.length} skips`))
        if (skips.length > 0 && runs.some(({ trigger }) => trigger === 'scheduled')) {
          report.double.push(finding(scope, at, 'a scheduled run and a skip'))
        }
        if (segment.state !== 'active' && runs.some(({ trigger }) => trigger === 'scheduled')) {
          report.unexpected.push(finding(scope, at, `a scheduled run while ${segment.state}`))
        }
        if (segment.state === 'active' && skips.some(({ reason }) => reason === 'paused')) {
          report.unexpected.push(finding(scope, at, 'skipped as paused while active'))
        }
      }
    }
  }
  if (to === undefined && !schedule.is_deleted) {
    const overdue = overdueSince(schedule, segments.at(-1), now)
    if (overdue !== null) differs('missing', '', overdue, 'due and not decided yet')
  }
  for (const { scope, planTime, detail } of answers.left()) differs('unexpected', scope, planTime, detail)
}

/** The version that computed a plan time, if it is not the one at hand; null where it is, or where no zone matters. */
function otherZoneData(
  schedule: AuditedSchedule,
  segments: readonly Segment[],
  at: Instant,
  zoneData: string,
): string | null {
  const segment = segments.findLast(({ after }) => after < at) ?? segments[0]
  if (segment === undefined || segment.zoneData === null) return null
  const isOfNewest = schedule.zone_data_from !== null && at > schedule.zone_data_from.getTime()
  const computedWith = (isOfNewest ? schedule.zone_data : null) ?? segment.zoneData
  return computedWith === zoneData ? null : computedWith || 'data of an unknown version'
}

function segmentsOf(
  schedule: AuditedSchedule,
  onMistake: (from: Instant, detail: string) => void,
): Segment[] {
  const created = schedule.created_at.getTime()
  const changes = schedule.changes.filter(
    (change): change is AuditedChange & { after: ScheduleContent } => change.after !== null,
  )
  return changes.flatMap((change, index) => {
    const after = change.boundary.getTime()
    try {
      const { startAt } = boundsOf(change.after, created)
      const segment: Segment = {
        after,
        through: changes[index + 1]?.boundary.getTime() ?? schedule.decided_through.getTime(),
        state: change.state,
        scopes: change.after.scopes,
        // `once` is due even when its time had passed at creation.
        startAt: change.after.timing.kind === 'once' ? Number.NEGATIVE_INFINITY : startAt,
        grid: gridOfContent(change.after, created),
        zoneData: zoneDataOf(change.after.timing, change.zone_data ?? ''),
      }
      return [segment]
    } catch (error) {
      onMistake(after, `cannot be computed from here on: ${(error as Error).message}`)
      return []
    }
  })
}

/** Runs and skips by scope; what was asked for is taken, what is left nobody expected. Asked in the order of time. */
function collectAnswers(schedule: AuditedSchedule, range: { after: Instant; through: Instant }) {
  const inRange = (at: Instant) => at > range.after && at <= range.through
  const runs = new Map<string, AuditedRun[]>()
  const scopesOfRuns = new Map<Instant, Set<string>>()
  for (const run of schedule.runs) {
    const at = run.plan_time.getTime()
    push(runs, `${run.scope} ${at}`, run)
    scopesOfRuns.set(at, (scopesOfRuns.get(at) ?? new Set()).add(run.scope))
  }
  const lanes = new Map<string, SkipLane>()
  for (const skip of schedule.skips) {
    const lane = lanes.get(skip.scope) ?? { skips: [], passed: 0 }
    lanes.set(skip.scope, lane)
    const [first, last] = [skip.first_plan_time.getTime(), skip.last_plan_time.getTime()]
    lane.skips.push({ first, last, reason: skip.reason, met: false })
  }
  return {
    scopesAt: (at: Instant): string[] => [
      ...new Set([
        ...(scopesOfRuns.get(at) ?? []),
        ...[...lanes].flatMap(([scope, lane]) => (covering(lane, at).length > 0 ? [scope] : [])),
      ]),
    ],
    take(scope: string, at: Instant) {
      const key = `${scope} ${at}`
      const found = runs.get(key) ?? []
      runs.delete(key)
      const lane = lanes.get(scope)
      const skips = lane === undefined ? [] : covering(lane, at)
      for (const skip of skips) skip.met ||= skip.first === at || skip.last === at
      return { runs: found, skips }
    },
    *left() {
      for (const run of [...runs.values()].flat()) {
        const at = run.plan_time.getTime()
        if (!inRange(at)) continue
        const detail = run.id === runIdOf(schedule.id, run.scope, at) ? 'a run' : 'a run with a foreign id'
        yield { scope: run.scope, planTime: at, detail: `${detail} (${run.trigger})` }
      }
      for (const [scope, { skips }] of lanes) {
        for (const { first, last, reason, met } of skips) {
          if (!met && inRange(first) && inRange(last))
            yield { scope, planTime: first, detail: `a skip (${reason})` }
        }
      }
    },
  }
}

interface Skip {
  first: Instant
  last: Instant
  reason: SkipReason
  met: boolean
}

/** The skips of one scope in the order of their first plan time, and how many of them lie behind. */
interface SkipLane {
  skips: Skip[]
  passed: number
}

/** Those that cover an instant. Instants only grow, so that each skip is passed once. */
function covering(lane: SkipLane, at: Instant): Skip[] {
  while (lane.passed < lane.skips.length && lane.skips[lane.passed]!.last < at) lane.passed += 1
  const found: Skip[] = []
  for (let index = lane.passed; index < lane.skips.length && lane.skips[index]!.first <= at; index++) {
    if (lane.skips[index]!.last >= at) found.push(lane.skips[index]!)
  }
  return found
}

function push<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}
