import type { Run } from '../runs/run.js'
import type { SkipReason } from '../schedules/catch-up.js'
import { FIRST_ID, type HistoryPage, type HistoryRow, listHistory } from '../store/queries/ledger.js'
import type { Session } from '../store/store.js'
import { formatInstant, type Instant, type InstantInput, readInstant } from '../time/instant.js'
import { quote, type Report, readOrThrow } from '../time/report.js'

/** A run without what can be large: see `runs.details` for that. */
export type HistoryRun = Pick<
  Run,
  'id' | 'state' | 'trigger' | 'attempt' | 'totals' | 'error' | 'startedAt' | 'finishedAt'
>

/** One run, or one range of plan times that were skipped for one reason. */
export interface HistoryEntry {
  /** Its place in the history: the plan time, the last one of a range; for a manual run when it was asked for. */
  at: Date
  scope: string
  /** Null for a manual run. */
  firstPlanTime: Date | null
  /** The same as the first for a run. */
  lastPlanTime: Date | null
  run: HistoryRun | null
  reason: SkipReason | null
  /** Gives what follows this entry. */
  pageToken: string
}

/** What `schedules.history` takes. */
export interface HistoryOptions {
  /** Only what was before this time. */
  before?: InstantInput
  /** Only what follows the entry that has this token; `before` does not count then. */
  pageToken?: string
  /**
   * At most 10,000.
   * @default 100
   */
  limit?: number
}

const HISTORY_DEFAULTS = { limit: 100 } satisfies HistoryOptions

/** What became of a schedule, newest first: its runs, manual ones too, and its skips. */
export async function readHistory(
  session: Session,
  scheduleId: string,
  { before, pageToken, limit = HISTORY_DEFAULTS.limit }: HistoryOptions,
): Promise<HistoryEntry[]> {
  const begins = readOrThrow('option_invalid', (report) => {
    if (pageToken !== undefined) return afterEntry(pageToken, report)
    if (before === undefined) return { runsBefore: null, skipsBefore: null }
    const instant = readInstant(before, 'before', report)
    return instant === undefined ? undefined : beforeInstant(instant)
  })
  return (await listHistory(session, scheduleId, { ...begins, limit })).map(toEntry)
}

type Beginning = Pick<HistoryPage, 'runsBefore' | 'skipsBefore'>

function beforeInstant(at: Instant): Beginning {
  return { runsBefore: { at, id: FIRST_ID }, skipsBefore: { at, scope: '' } }
}

const TOKEN =
  /^(?<at>[^~]+)~(?:(?<id>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})|skip~(?<scope>[^\0]*))$/s

function tokenOf({ at, run_id, scope }: HistoryRow): string {
  return `${formatInstant(at.getTime())}~${run_id ?? `skip~${scope}`}`
}

function afterEntry(token: string, report: Report): Beginning | undefined {
  const { at: time, id, scope } = TOKEN.exec(token)?.groups ?? {}
  const at = time === undefined ? undefined : readInstant(time, 'pageToken', () => undefined)
  if (at === undefined) return report('pageToken', `${quote(token)} – is none that a history entry has`)
  // Of the same instant runs come first: after one of them all its skips are still to come.
  if (id !== undefined) return { runsBefore: { at, id }, skipsBefore: { at: at + 1, scope: '' } }
  return { runsBefore: { at, id: FIRST_ID }, skipsBefore: { at, scope: scope! } }
}

function toEntry(row: HistoryRow): HistoryEntry {
  return {
    at: row.at,
    scope: row.scope,
    firstPlanTime: row.first_plan_time,
    lastPlanTime: row.last_plan_time,
    run: row.run_id === null ? null : runOf(row, row.run_id),
    reason: row.reason,
    pageToken: tokenOf(row),
  }
}

function runOf(row: HistoryRow, id: string): HistoryRun {
  return {
    id,
    state: row.state!,
    trigger: row.trigger!,
    attempt: row.attempt!,
    totals: row.totals,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  }
}
