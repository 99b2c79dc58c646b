/**
 * Recomputes the plan times of every schedule, version by version as the change log tells them, and compares them with
 * the ledger. It covers what is decided: (ledger_from, decided_through] of each schedule, read in one snapshot.
 */
import { runIdOf } from '../runs/run-id.js'
import type { Grid } from '../schedules/catch-up.js'
import type { ScheduleContent, ScheduleState } from '../schedules/schedule.js'
import {
  type AuditedChange,
  type AuditedRun,
  type AuditedSchedule,
  type AuditedSkip,
  readAuditPage,
} from '../store/queries/auditing.js'
import type { Store } from '../store/store.js'
import { formatInstant, type Instant } from '../time/instant.js'
import { boundsOf } from './change.js'
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
}

const PAGE = 200

export async function audit(store: Store, options: AuditOptions = {}): Promise<AuditReport> {
  const report: AuditReport = { schedules: 0, occurrences: 0, missing: [], double: [], unexpected: [] }
  await store.transaction(async (session, tx) => {
    await tx.script('set transaction isolation level repeatable read, read only')
    let after = '00000000-0000-0000-0000-000000000000'
    for (;;) {
      const page = await readAuditPage(session, { after, limit: PAGE })
      if (page.length === 0) return
      after = page.at(-1)!.id
      for (const schedule of page) auditSchedule(schedule, options, report)
    }
  })
  return report
}

/** A stretch of time in which one version and one state held. */
interface Segment {
  after: Instant
  through: Instant
  state: ScheduleState
  scopes: readonly string[] | null
  startAt: Instant
  grid: Grid
}

function auditSchedule(schedule: AuditedSchedule, { from, to }: AuditOptions, report: AuditReport): void {
  report.schedules += 1
  const after = Math.max(schedule.ledger_from.getTime(), (from ?? Number.NEGATIVE_INFINITY) - 1)
  const through = Math.min(schedule.decided_through.getTime(), (to ?? Number.POSITIVE_INFINITY) - 1)
  const answers = collectAnswers(schedule, { after, through, all: from === undefined && to === undefined })
  const finding = (scope: string, planTime: Instant, detail: string): Finding => ({
    schedule: schedule.name,
    scope,
    planTime: formatInstant(planTime),
    detail,
  })

  for (const segment of segmentsOf(schedule)) {
    const start = Math.max(segment.after, after, segment.startAt - 1)
    const end = Math.min(segment.through, through)
    for (let at = segment.grid.next(start); at !== null && at <= end; at = segment.grid.next(at)) {
      const scopes = segment.scopes ?? answers.scopesAt(at)
      if (scopes.length === 0) report.missing.push(finding('', at, 'no scope has an answer'))
      for (const scope of scopes) {
        report.occurrences += 1
        const { runs, skips } = answers.take(scope, at)
        if (runs.length + skips === 0) report.missing.push(finding(scope, at, `${segment.state}, no answer`))
        if (runs.length > 1) report.double.push(finding(scope, at, `${runs.length} runs`))
        if (skips > 1) report.double.push(finding(scope, at, `${skips} skips`))
        if (skips > 0 && runs.some(({ trigger }) => trigger === 'scheduled')) {
          report.double.push(finding(scope, at, 'a scheduled run and a skip'))
        }
        if (segment.state !== 'active' && runs.some(({ trigger }) => trigger === 'scheduled')) {
          report.unexpected.push(finding(scope, at, `a scheduled run while ${segment.state}`))
        }
      }
    }
  }
  for (const { scope, planTime, detail } of answers.left()) {
    report.unexpected.push(finding(scope, planTime, detail))
  }
}

function segmentsOf(schedule: AuditedSchedule): Segment[] {
  const created = schedule.created_at.getTime()
  const changes = schedule.changes.filter(
    (change): change is AuditedChange & { after: ScheduleContent } => change.after !== null,
  )
  return changes.map((change, index) => ({
    after: change.boundary.getTime(),
    through: changes[index + 1]?.boundary.getTime() ?? schedule.decided_through.getTime(),
    state: change.state,
    scopes: change.after.scopes,
    // `once` is due even when its time had passed at creation.
    startAt:
      change.after.timing.kind === 'once'
        ? Number.NEGATIVE_INFINITY
        : boundsOf(change.after, created).startAt,
    grid: gridOfContent(change.after, created),
  }))
}

/** Runs and skips by scope; what was asked for is taken, what is left nobody expected. */
function collectAnswers(
  schedule: AuditedSchedule,
  range: { after: Instant; through: Instant; all: boolean },
) {
  const inRange = (at: Instant) => range.all || (at > range.after && at <= range.through)
  const runs = new Map<string, AuditedRun[]>()
  for (const run of schedule.runs) {
    const key = `${run.scope} ${run.plan_time.getTime()}`
    runs.set(key, [...(runs.get(key) ?? []), run])
  }
  const skips = new Map<string, (AuditedSkip & { met: boolean })[]>()
  for (const skip of schedule.skips) {
    skips.set(skip.scope, [...(skips.get(skip.scope) ?? []), { ...skip, met: false }])
  }
  const covering = (scope: string, at: Instant) =>
    (skips.get(scope) ?? []).filter(
      ({ first_plan_time, last_plan_time }) =>
        first_plan_time.getTime() <= at && at <= last_plan_time.getTime(),
    )
  return {
    scopesAt(at: Instant): string[] {
      const ran = schedule.runs
        .filter(({ plan_time }) => plan_time.getTime() === at)
        .map(({ scope }) => scope)
      return [...new Set([...ran, ...[...skips.keys()].filter((scope) => covering(scope, at).length > 0)])]
    },
    take(scope: string, at: Instant) {
      const key = `${scope} ${at}`
      const found = runs.get(key) ?? []
      runs.delete(key)
      const covered = covering(scope, at)
      for (const skip of covered)
        skip.met ||= [skip.first_plan_time, skip.last_plan_time].some((end) => +end === at)
      return { runs: found, skips: covered.length }
    },
    *left() {
      for (const run of [...runs.values()].flat()) {
        const at = run.plan_time.getTime()
        if (!inRange(at)) continue
        const detail = run.id === runIdOf(schedule.id, run.scope, at) ? 'a run' : 'a run with a foreign id'
        yield { scope: run.scope, planTime: at, detail: `${detail} (${run.trigger})` }
      }
      for (const skip of [...skips.values()].flat()) {
        const at = skip.first_plan_time.getTime()
        if (!skip.met && inRange(at) && inRange(skip.last_plan_time.getTime())) {
          yield { scope: skip.scope, planTime: at, detail: `a skip (${skip.reason})` }
        }
      }
    },
  }
}
