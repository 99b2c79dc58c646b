export type RunState = 'pending' | 'running' | 'retrying' | 'succeeded' | 'failed' | 'cancelled' | 'skipped'

export type RunTrigger = 'scheduled' | 'manual' | 'backfill' | 'direct'

/** The durable unit of work, from an occurrence or asked for directly. */
export interface Run {
  id: string
  state: RunState
  job: string
  input: unknown
  queue: string
  priority: number
  trigger: RunTrigger
  /** Under which a direct run was asked for, if it was. */
  key: string | null
  /** The schedule that this run is an occurrence of; null for a direct run. */
  scheduleId: string | null
  /** The name of that schedule as it is now; null where it is deleted. */
  schedule: string | null
  scheduleVersion: number | null
  scope: string | null
  /** The nominal instant of the occurrence; it never changes. */
  planTime: Date | null
  /** When it may be claimed: at first, or for its next attempt. */
  eligibleAt: Date
  /** The number of the newest attempt; 0 before the first. */
  attempt: number
  workerId: string | null
  result: unknown
  /** How far its handler says that it has come, from 0 to 1, and where it is. */
  progress: { fraction: number; note: string | null } | null
  /** Counters that its handler has added up. */
  totals: Readonly<Record<string, number>> | null
  error: { code: string; message: string } | null
  createdAt: Date
  startedAt: Date | null
  finishedAt: Date | null
}
