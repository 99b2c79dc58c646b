/** What a check is against. */
type FindingKind =
  | 'lost'
  | 'doubled'
  | 'unexpected'
  | 'early'
  | 'late'
  | 'stale'
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
