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
  /** The schedule that this run is an occurrence of; null for a direct run. */
  scheduleId: string | null
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
  error: { code: string; message: string } | null
  createdAt: Date
  startedAt: Date | null
  finishedAt: Date | null
}
