/** Compares what the handlers' own files say with what the tables say. */
import { readLines } from '../history.js'
import { at, type Report } from './finding.js'
import { groupBy } from './grouping.js'
import type { Ledger, RunRow } from './ledger.js'

interface Witnessed {
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
  /** Of a start: the lease under which it ran, or null where nobody could tell any more. */
  lease?: string | null
}

/** The first line of a process, once it works. */
interface Ready {
  what: 'ready'
  node: string
  isPooled: boolean
  mode: 'direct' | 'pooled'
}

export interface Witnesses {
  lines: Witnessed[]
  processes: Ready[]
}

export interface WitnessCounts {
  executions: number
  /** Attempts that came to their end after their run was somebody else's, and did not count. */
  staleRefused: number
}

export function readWitnesses(files: readonly string[]): Witnesses {
  const witnesses: Witnesses = { lines: [], processes: [] }
  for (const line of files.flatMap((file) => readLines<Witnessed | Ready>(file))) {
    if (line.what === 'ready') witnesses.processes.push(line)
    else witnesses.lines.push(line)
  }
  return witnesses
}

/** Who is behind a pooler knows it: it would else rely on a session that others share. */
export function checkPooled(
  { lines, processes }: Witnesses,
  report: Report,
): { starts: number; executions: number } {
  const pooled = processes.filter(({ isPooled }) => isPooled)
  for (const { node, mode } of pooled) {
    if (mode === 'direct') report('pooler', node, 'takes itself for connected directly')
  }
  const behind = new Set(pooled.map(({ node }) => node))
  const starts = lines.filter(({ what, node }) => what === 'start' && behind.has(node))
  return { starts: pooled.length, executions: starts.length }
}

export function checkWitnesses(
  { lines: witnessed }: Witnesses,
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
  const leases = new Map(
    witnessed.flatMap(({ what, nonce, lease }) =>
      what === 'start' && lease ? [[nonce, lease] as const] : [],
    ),
  )
  for (const run of runs) checkSuccess(run, { ended, leases }, report)
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
function checkSuccess(
  run: RunRow,
  { ended, leases }: { ended: ReadonlyMap<string, Witnessed>; leases: ReadonlyMap<string, string> },
  report: Report,
): void {
  if (run.state !== 'succeeded') return
  const end = ended.get(run.result?.nonce ?? '')
  const lease = leases.get(run.result?.nonce ?? '')
  if (!end) report('stale', run.id, `succeeded at attempt ${run.attempt}, which did not come to its end`)
  else if (end.run !== run.id || end.attempt !== run.attempt)
    report(
      'stale',
      run.id,
      `attempt ${end.attempt} completed it, although attempt ${run.attempt} had its lease`,
    )
  else if (lease !== undefined && lease !== run.lease)
    report('stale', run.id, `lease ${lease} completed it, although ${run.lease} was the newest`)
}
