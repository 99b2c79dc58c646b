import type { ErrorCode } from '../errors.js'

/** What the main thread hands to the engine's thread when it starts. */
export interface ThreadOptions {
  /** Where the database lies; null keeps it in memory. */
  data: { path: string; isNew: boolean } | null
  /** An archive of a data directory with which a new database begins; it goes over to the thread. */
  template: ArrayBuffer | null
  maintenance: MaintenanceLimits
}

/** When the engine's thread tidies up; see `pglite-maintenance.ts`. */
export interface MaintenanceLimits {
  /** How long after activity the log's growth is looked at. */
  lookAtLogMs: number
  /** A checkpoint is made when the log has grown by this much since the last one. */
  checkpointAfterBytes: number
  /** How long after activity tables are looked at that need vacuum or fresh statistics. */
  lookAtTablesMs: number
}

export type Request =
  | { op: 'query'; text: string; params: readonly (string | null)[] }
  | { op: 'script'; text: string }
  | { op: 'begin' | 'commit' | 'rollback' }
  | { op: 'dump' }
  | { op: 'close' }

export type Reply = { rows: unknown[] } | { archive: ArrayBuffer } | { error: ErrorFields } | Done
type Done = { done: true }

/** The id of the reply that comes unasked, once the engine runs or could not start. */
export const STARTING = 0

export type ToThread = { id: number; request: Request }
export type FromThread =
  | { id: number; reply: Reply }
  | { notification: { channel: string; payload: string } }
  | { failed: ErrorFields }

/** An error on its way between threads: the structured clone would drop every field of our own. */
export interface ErrorFields {
  message: string
  /** Set for an `EscapementError`, which is built anew on the other side. */
  escapement?: { code: ErrorCode; details: Readonly<Record<string, unknown>> }
  /** What PostgreSQL said about the failure; `code` is the SQLSTATE. */
  postgres?: Partial<Record<PostgresField, string>>
}

export const POSTGRES_FIELDS = [
  'code',
  'severity',
  'detail',
  'hint',
  'position',
  'where',
  'schema',
  'table',
  'column',
  'dataType',
  'constraint',
  'routine',
] as const
export type PostgresField = (typeof POSTGRES_FIELDS)[number]
