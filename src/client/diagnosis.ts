/** `problem`: something does not work as it should, and somebody must act. `note`: worth knowing. */
export type Severity = 'problem' | 'note'

/** All that can be found, and how grave it is. `docs/guide/doctor.md` explains each. */
export const DIAGNOSIS_KINDS = {
  connection: 'problem',
  schema: 'problem',
  read_only: 'problem',
  moved: 'problem',
  unexamined: 'problem',
  clock_skew: 'problem',
  zone_data: 'problem',
  unplannable: 'problem',
  overdue: 'problem',
  broken: 'problem',
  expired_lease: 'problem',
  dead_worker: 'problem',
  no_worker: 'problem',
  unknown_job: 'problem',
  unserved_queue: 'problem',
  quarantined: 'problem',
  missing_index: 'problem',
  bloat: 'problem',
  notification_latency: 'problem',
  pooler: 'note',
  failing_job: 'note',
  claiming_paused: 'note',
} as const satisfies Record<string, Severity>

export type DiagnosisKind = keyof typeof DIAGNOSIS_KINDS

/** One thing that was found, with what mends it. */
export interface Diagnosis {
  kind: DiagnosisKind
  severity: Severity
  /** The schedule, run, job, worker, table or index that shows it. */
  subject: string
  detail: string
  /** What to do about it. */
  fix: string
  /** What to type for that, or to look closer: for a shell, or SQL, which ends in a semicolon. Null where nothing can be typed. */
  command: string | null
}

export type Finding = Omit<Diagnosis, 'kind' | 'severity'>

/** As many of a kind are told one by one. */
export const MOST_TOLD = 20
/** As many of a kind are counted. */
export const MOST_COUNTED = 1_000

/** The first of what was found, and a line for the others. */
export function told<Row>(
  kind: DiagnosisKind,
  rows: readonly Row[],
  tell: (row: Row) => Finding,
  count = rows.length,
): Diagnosis[] {
  const severity = DIAGNOSIS_KINDS[kind]
  const first = rows.slice(0, MOST_TOLD).map((row) => ({ kind, severity, ...tell(row) }))
  const more = count - first.length
  if (more <= 0) return first
  const atLeast = count >= MOST_COUNTED ? 'at least ' : ''
  const rest = { subject: `${atLeast}${more} more`, detail: 'of the same kind, not listed here' }
  return [
    ...first,
    { kind, severity, ...rest, fix: 'mend the first of them, then look again', command: null },
  ]
}

/** Of statements that say in each row how many there are in all. */
export function toldOf<Row extends { count: number }>(
  kind: DiagnosisKind,
  rows: readonly Row[],
  tell: (row: Row) => Finding,
): Diagnosis[] {
  return told(kind, rows, tell, rows[0]?.count)
}

/** A word of a command line, quoted where a shell would read something else into it. */
export function shellWord(text: string): string {
  return /^[\w.:@%+=,/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

export function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`
}

/** To the second. */
export function timeOf(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, 'Z')
}
