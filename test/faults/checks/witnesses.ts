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
  worker: string
  node: string
  mono: number
  host: number
  /** The database's time, or null where it did not answer; of an end, as soon as it did. */
  database: number | null
  /** The lease under which the attempt runs, as it was at its start; null where nobody could tell any more. */
  lease: string | null
  /** Of an end: the lease that the run had then, null for none; absent where the database did not answer. */
  holds?: string | null
}

/** What the database said at an end. */
interface Looked {
  what: 'looked'
  nonce: string
  database: number
  holds: string | null
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
  /** Attempts that came to their end, or failed, when their lease was somebody else's or nobody's, and did not count. */
  staleRefused: number
  staleFailuresRefused: number
}

/** The machine's own clock is the database's too; a step of it would be another fault. */
export const timeOf = ({ database, host }: Witnessed) => database ?? host

/** When the first attempt of each run began. */
export function firstStarts({ lines }: Witnesses): Map<string, number> {
  const starts = new Map<string, number>()
  for (const line of lines) {
    if (line.what !== 'start') continue
    starts.set(line.run, Math.min(starts.get(line.run) ?? Number.POSITIVE_INFINITY, timeOf(line)))
  }
  return starts
}

export function readWitnesses(files: readonly string[]): Witnesses {
  const witnesses: Witnesses = { lines: [], processes: [] }
  const ends = new Map<string, Witnessed>()
  for (const line of files.flatMap((file) => readLines<Witnessed | Looked | Ready>(file))) {
    if (line.what === 'ready') witnesses.processes.push(line)
    else if (line.what === 'looked')
      Object.assign(ends.get(line.nonce)!, { database: line.database, holds: line.holds })
    else {
      witnesses.lines.push(line)
      if (line.what !== 'start') ends.set(line.nonce, line)
    }
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
  { runs, attempts }: Ledger,
  report: Report,
): WitnessCounts {
  const recorded = new Set(
    attempts.map(({ run, number, worker, code }) => `${run} ${number} ${worker} ${code}`),
  )
  const rows = new Map(runs.map((run) => [run.id, run]))
  const counts = { executions: 0, staleRefused: 0, staleFailuresRefused: 0 }
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
    for (const line of lines.filter(isStale)) {
      const { what, attempt, worker, nonce, holds } = line
      if (what === 'failed') {
        // The lease of one that was recorded is void for that.
        if (!recorded.has(`${id} ${attempt} ${worker} handler_error`)) counts.staleFailuresRefused += 1
      } else if (nonce !== row.result?.nonce) counts.staleRefused += 1
      else if (holds !== null)
        report('stale', id, `attempt ${attempt} completed it, although ${holds} was its lease`)
    }
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

/** Whether its lease was superseded, or void, when it came to its end. */
function isStale({ what, lease, holds }: Witnessed): boolean {
  return what !== 'start' && lease !== null && holds !== undefined && holds !== lease
}

function checkStart(start: Witnessed, row: RunRow, report: Report): void {
  const startedAt = timeOf(start)
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
