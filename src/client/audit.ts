/**
 * Recomputes the plan times of every schedule, version by version as the change log tells them, and compares them with
 * the ledger. It covers what is decided: (ledger_from, decided_through] of each schedule, read in one snapshot.
 *
 * It computes with the zone data of this process. Where the plan times of a timing that follows a zone were computed with
 * other data, the two may differ and both be right: then a plan time without an answer, and an answer without a plan
 * time, is a `zone_data` finding and proves no mistake. A plan time after `zone_data_from` was computed with the
 * schedule's `zone_data`; one before it with what its change row says, or with something between the two that nobody
 * wrote down, since newer data that moved no cursor leave no row. Two answers to one plan time are a mistake under any data.
 *
 * The ledger of a schedule says nothing of another, so that pages of them, each in a snapshot of its own, prove as much as one.
 *
 * It takes as much memory for a year as for a day: what a schedule has many of is read in portions, and both the plan times and
 * their answers are gone through once, in the order of time. A range of skipped plan times is stepped over.
 */
import { createBreather } from '../breather.js'
import type { Clock } from '../clock.js'
import { runIdOf } from '../runs/run-id.js'
import { isUuid } from '../runs/uuid.js'
import { type AuditedSchedule, keepAwake, listAudited } from '../store/queries/auditing.js'
import { readNow } from '../store/queries/schedules.js'
import type { Session, Store } from '../store/store.js'
import { formatInstant, type Instant } from '../time/instant.js'
import { quote, readOrThrow } from '../time/report.js'
import { Answers } from './audited-answers.js'
import { type Ledger, readLedgers } from './audited-ledgers.js'
import {
  countBetween,
  isExpected,
  otherZoneData,
  REST_EVERY,
  type Segment,
  segmentsOf,
} from './audited-segments.js'

export interface AuditOptions {
  /** Plan times from here on, inclusive; without it, all that the ledgers cover. */
  from?: Instant
  /** Plan times before this, exclusive. */
  to?: Instant
  /** How many schedules at most; without it, all of them. */
  limit?: number
  /** `nextPageToken` of the report before. */
  pageToken?: string
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
  /** Goes on with the schedules after these; null after the last. */
  nextPageToken: string | null
}

/** Schedules that are looked at together. */
const PAGE = 100

export async function audit(
  store: Store,
  zoneData: string,
  options: AuditOptions = {},
): Promise<AuditReport> {
  checkPage(options)
  const report: AuditReport = {
    schedules: 0,
    occurrences: 0,
    missing: [],
    double: [],
    unexpected: [],
    zoneData: [],
    nextPageToken: null,
  }
  await store.transaction(async (session, tx) => {
    await tx.script('set transaction isolation level repeatable read, read only')
    const context = {
      ...options,
      now: await readNow(session),
      zoneData,
      rest: createRest(session, store.clock),
    }
    let after = options.pageToken ?? '00000000-0000-0000-0000-000000000000'
    for (let left = options.limit ?? Number.POSITIVE_INFINITY; ; ) {
      const schedules = await listAudited(session, { after, limit: Math.min(PAGE, left) })
      if (schedules.length === 0) return
      after = schedules.at(-1)!.id
      left -= schedules.length
      const ledgerOf = await readLedgers(session, schedules, options)
      for (const schedule of schedules) await auditSchedule(schedule, ledgerOf(schedule), context, report)
      if (left === 0) {
        report.nextPageToken = after
        return
      }
    }
  })
  return report
}

function checkPage({ limit, pageToken }: AuditOptions): void {
  readOrThrow('option_invalid', (report) => {
    if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1)) {
      report('limit', `${quote(limit)} – must be a whole number from 1 on`)
    }
    if (pageToken !== undefined && !isUuid(pageToken))
      report('pageToken', `${quote(pageToken)} – is not one of ours`)
    return true
  })
}

/** What is compared takes its time: others have their turn meanwhile, and the transaction stays awake. */
function createRest(session: Session, { elapsedMs }: Clock): () => Promise<void> {
  const breathe = createBreather()
  let since = elapsedMs()
  return async () => {
    await breathe()
    if (elapsedMs() - since < AWAKE_EVERY_MS) return
    await keepAwake(session)
    since = elapsedMs()
  }
}

const AWAKE_EVERY_MS = 1_000

/** How late a scheduler may be before what it has not decided counts as missing. */
const OVERDUE_MS = 60_000

/** The first plan time that a scheduler ought to have decided; null where it is not late. */
function overdueSince(schedule: AuditedSchedule, segment: Segment | undefined, now: Instant): Instant | null {
  if (schedule.state !== 'active' || segment === undefined) return null
  const first = segment.grid.next(Math.max(schedule.decided_through.getTime(), segment.startAt - 1))
  return first !== null && first < now - OVERDUE_MS ? first : null
}

interface AuditContext extends AuditOptions {
  now: Instant
  zoneData: string
  rest: () => Promise<void>
}

async function auditSchedule(
  schedule: AuditedSchedule,
  ledger: Ledger,
  { from, to, now, zoneData, rest }: AuditContext,
  report: AuditReport,
): Promise<void> {
  report.schedules += 1
  const after = Math.max(schedule.ledger_from.getTime(), (from ?? Number.NEGATIVE_INFINITY) - 1)
  const through = Math.min(schedule.decided_through.getTime(), (to ?? Number.POSITIVE_INFINITY) - 1)
  const lastOfAll = to === undefined ? Number.POSITIVE_INFINITY : through
  const isCovered = (at: Instant) => at > after && at <= lastOfAll
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

  const segments = await segmentsOf(schedule, ledger.changes, rest, (at, detail) =>
    report.missing.push(finding('', at, detail)),
  )
  const chain: { scope: string; at: Instant; afterMs: number }[] = []
  /** An `after` timing has no plan times but those that it was given: they are looked at together. */
  const joins = (scope: string, at: Instant): boolean => {
    const afterMs = (segments.findLast((segment) => segment.after < at) ?? segments[0])?.afterMs ?? null
    if (afterMs !== null) chain.push({ scope, at, afterMs })
    return afterMs !== null
  }
  const answers = new Answers(ledger.runs, ledger.skips, {
    run({ id, scope, trigger }, at) {
      if (!isCovered(at) || joins(scope, at)) return
      const detail = id === runIdOf(schedule.id, scope, at) ? 'a run' : 'a run with a foreign id'
      differs('unexpected', scope, at, `${detail} (${trigger})`)
    },
    skip({ scope, first, last, reason }) {
      if (joins(scope, first)) return
      if (isCovered(first) && isCovered(last)) differs('unexpected', scope, first, `a skip (${reason})`)
    },
  })

  /** Compares one plan time with its answers. */
  function look(segment: Segment, at: Instant): void {
    const scopes = segment.scopes ?? answers.scopes()
    if (scopes.length === 0) differs('missing', '', at, 'no scope has an answer')
    for (const scope of scopes) {
      report.occurrences += 1
      const { runs, skips } = answers.take(scope)
      if (runs.length + skips.length === 0) differs('missing', scope, at, `${segment.state}, no answer`)
      if (runs.length > 1) report.double.push(finding(scope, at, `${runs.length} runs`))
      if (skips.length > 1) report.double.push(finding(scope, at, `${skips.length} skips`))
      if (skips.length > 0 && runs.some(({ trigger }) => trigger === 'scheduled')) {
        report.double.push(finding(scope, at, 'a scheduled run and a skip'))
      }
      if (segment.state !== 'active' && runs.some(({ trigger }) => trigger === 'scheduled')) {
        report.unexpected.push(finding(scope, at, `a scheduled run while ${segment.state}`))
      }
      if (skips.some(({ reason }) => !isExpected(segment, reason))) {
        report.unexpected.push(finding(scope, at, 'skipped as paused while active'))
      }
    }
  }

  let looked = 0
  let latest = Number.NEGATIVE_INFINITY
  for (const segment of segments) {
    const { grid } = segment
    const end = Math.min(segment.through, through)
    let at = grid.next(Math.max(segment.after, after, segment.startAt - 1, latest))
    while (at !== null && at <= end) {
      while (!answers.goTo(at)) await answers.fill()
      look(segment, at)
      latest = at
      const skipped = answers.skippedThrough(segment.scopes, (reason) => isExpected(segment, reason))
      const last = skipped > at ? grid.previous(Math.min(skipped, end) + 1) : null
      if (last !== null && last > at) {
        const scopes = segment.scopes?.length ?? answers.scopesSkipped
        report.occurrences += scopes * (await countBetween(segment, at, last, rest))
        at = last
      } else at = grid.next(at)
      looked += 1
      if (looked % REST_EVERY === 0) await rest()
    }
  }
  while (!answers.goTo(Number.POSITIVE_INFINITY)) await answers.fill()
  auditChain(chain, report, finding)
  if (to === undefined && !schedule.is_deleted) {
    const overdue = overdueSince(schedule, segments.at(-1), now)
    if (overdue !== null) differs('missing', '', overdue, 'due and not decided yet')
  }
  await rest()
}

/** Plan times of an `after` timing come one by one, each at least the interval after the one before. */
function auditChain(
  chain: { scope: string; at: Instant; afterMs: number }[],
  report: AuditReport,
  finding: (scope: string, planTime: Instant, detail: string) => Finding,
): void {
  chain.sort((a, b) => a.at - b.at)
  chain.forEach(({ scope, at, afterMs }, index) => {
    const before = chain[index - 1]?.at
    if (before === at) report.double.push(finding(scope, at, 'two answers'))
    else report.occurrences += 1
    if (before !== undefined && before < at && at < before + afterMs) {
      report.unexpected.push(finding(scope, at, 'nearer to the one before than its interval'))
    }
  })
}
