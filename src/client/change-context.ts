import type { Chance } from '../chance.js'
import type { RunEvent } from '../events/bus.js'
import type { ScheduleAct } from '../events/schedule-events.js'
import type { CancelledRun } from '../store/queries/cancelling.js'
import type { ScheduleRow } from '../store/rows.js'
import type { Session } from '../store/store.js'
import type { Instant } from '../time/instant.js'
import type { ProvidedScopes } from './scopes.js'

/** What the parts of a verb share within one transaction. */
export interface ChangeContext {
  session: Session
  channel: string
  now: Instant
  action: string
  actor: string | null
  scopes: ProvidedScopes
  /** What is told once the transaction has committed. */
  acts: ScheduleAct[]
  /** The runs among it. */
  created: RunEvent[]
  /** Open runs that one of these has taken the place of. */
  replaced: CancelledRun[]
  /** Schedules that are deleted since they are done, as they were last, by name. */
  ended: Map<string, ScheduleRow>
  /** The version of the zone data that this process computes with. */
  zoneData: string
  chance: Chance
}
