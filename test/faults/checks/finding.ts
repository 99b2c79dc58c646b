/** What a check is against. */
export type FindingKind =
  | 'lost'
  | 'doubled'
  | 'unexpected'
  | 'early'
  | 'late'
  | 'outcome'
  | 'stale'
  | 'overlap'
  | 'stuck'
  | 'after'
  | 'breaker'
  | 'transition'
  | 'counter'
  | 'audit'
  | 'stop'
  | 'pooler'
  | 'crash'

export interface Finding {
  kind: FindingKind
  /** A schedule, a run or a row. */
  about: string
  message: string
}

export type Report = (kind: FindingKind, about: string, message: string) => void

/** As people and the ledger write it. */
export const at = (ms: number) => new Date(ms).toISOString()

/** Instants are in whole milliseconds on both sides: what was rounded must not count. */
export const SLACK_MS = 2
