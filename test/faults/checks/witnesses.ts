/** Compares what the handlers' own files say with what the tables say. */
import { readLines } from '../history.js'
import { at, type Report } from './finding.js'
import { groupBy } from './grouping.js'
import type { Ledger, RunRow } from './ledger.js'

export interface Witnessed {
  what: 'start' | 'end' | 'failed'
  run: string
  job: string
  schedule: string | null
  planTime: number | null
  attempt: number
  nonce: string
  node: string
  mono: number
  host: number
  /** Of a start: the database's time, or null where it did not answer. */
  database?: number | null
}

export interface WitnessCounts {
  executions: number
  /** Attempts that came to their end after their run was somebody else's, and did not count. */
  staleRefused: number
}

export function readWitnesses(files: readonly string[]): Witnessed[] {
  return files.flatMap((file) => readLines<Witnessed>(file))
}

export function checkWitnesses(
  witnessed: readonly Witnessed[],
  { runs }: Ledger,
  report: Report,
): WitnessCounts {
  const rows = new Map(runs.map((run) => [run.id, run]))
  const counts = { executions: 0, staleRefused: 0 }
  for (const [id, lines] of groupBy(witnessed, ({ run }) => run)) {
    const starts = lines.filter(({ what }) => what === 'start')
    const row = rows.get(id)
    counts.executions += starts.length
    if (!row) {
      report('unexpected', id, `began (${starts[0]?.schedule ?? starts[0]?.job}) and is no run`)
      continue
    }
    for (const start of starts) checkStart(start, row, report)
    const attempts = starts.map(({ attempt }) => attempt)
    if (new Set(attempts).size < attempts.length)
      report('doubled', id, `an attempt of ${row.job} began twice: ${attempts.join(', ')}`)
    if (Math.max(...attempts) > row.attempt)
      report('stale', id, `attempt ${Math.max(...attempts)} began, and the run says ${row.attempt}`)
    if (row.job === 'at-most-once' && starts.length > 1)
      report('doubled', id, `began ${starts.length} times, although it must at most once`)
    const ends = lines.filter(({ what }) => what === 'end')
    counts.staleRefused += ends.filter(({ nonce }) => nonce !== row.result?.nonce).length
  }
  const ended = new Map(witnessed.filter(({ what }) => what === 'end').map((line) => [line.nonce, line]))
  for (const run of runs) checkSuccess(run, ended, report)
  return counts
}

function checkStart(start: Witnessed, row: RunRow, report: Report): void {
  // The machine's own clock is the database's too; a step of it would be another fault.
  const startedAt = start.database ?? start.host
  if (row.planTime !== null && startedAt < row.planTime - 1)
    report(
      'early',
      row.id,
      `attempt ${start.attempt} of ${start.schedule} ${at(row.planTime)} began at ${at(startedAt)}`,
    )
}

/** Only the newest lease completes: what the run holds is what its last attempt returned, and that came to its end. */
function checkSuccess(run: RunRow, ended: ReadonlyMap<string, Witnessed>, report: Report): void {
  if (run.state !== 'succeeded') return
  const end = ended.get(run.result?.nonce ?? '')
  if (!end) report('stale', run.id, `succeeded at attempt ${run.attempt}, which did not come to its end`)
  else if (end.run !== run.id || end.attempt !== run.attempt)
    report(
      'stale',
      run.id,
      `attempt ${end.attempt} completed it, although attempt ${run.attempt} had its lease`,
    )
}
