import {
  type AuditedChange,
  type AuditedRun,
  type AuditedSchedule,
  type AuditedSkip,
  type AuditRange,
  readFirst,
  streamAll,
} from '../store/queries/auditing.js'
import type { Session } from '../store/store.js'
import { Rows } from './audited-answers.js'

/** Runs, skips or changes of a schedule that come with its page; one that has more of them is read by itself. */
const BROUGHT = 500
const PORTION = 5_000

/** What became of one schedule, each in the order of time. */
export interface Ledger {
  changes: Rows<AuditedChange>
  runs: Rows<AuditedRun>
  skips: Rows<AuditedSkip>
}

/** The ledgers of schedules that are looked at together: few statements where they are short, portions where they are long. */
export async function readLedgers(
  session: Session,
  schedules: readonly AuditedSchedule[],
  { from, to }: AuditRange,
): Promise<(schedule: AuditedSchedule) => Ledger> {
  const ids = schedules.map(({ id }) => id)
  const range = { from, to }
  const first = { limit: BROUGHT + 1, ...range }
  const changes = await readFirst(session, 'changes', ids, first)
  const runs = await readFirst(session, 'runs', ids, first)
  const skips = await readFirst(session, 'skips', ids, first)
  const all = { portion: PORTION, ...range }
  const rowsOf = <Row>(found: readonly Row[] = [], stream: () => AsyncGenerator<Row[], void>) =>
    found.length <= BROUGHT ? new Rows(found) : new Rows([], stream())
  return ({ id }) => ({
    changes: rowsOf(changes.get(id), () => streamAll(session, 'changes', id, all)),
    runs: rowsOf(runs.get(id), () => streamAll(session, 'runs', id, all)),
    skips: rowsOf(skips.get(id), () => streamAll(session, 'skips', id, all)),
  })
}
