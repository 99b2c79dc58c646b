import type { EventBus } from '../events/bus.js'
import { pauseClaiming, readClaiming, resumeClaiming } from '../store/queries/control.js'
import { notify } from '../store/queries/notifying.js'
import type { Store } from '../store/store.js'
import { checkOptions, VERB, WITH_REASON } from './checked-schedules.js'
import type { VerbOptions } from './verb.js'

/** Whether runs are claimed. It holds for all processes on the database, and through restarts. */
export interface Claiming {
  /** No run is begun any more; what runs goes on, and so does planning. Pausing again changes nothing. */
  pause(options?: VerbOptions & { reason?: string }): Promise<void>
  resume(options?: VerbOptions): Promise<void>
  status(): Promise<ClaimingStatus>
}

export interface ClaimingStatus {
  paused: boolean
  reason: string | null
  by: string | null
  since: Date | null
}

export function createClaiming(store: Store, bus: EventBus): Claiming {
  return {
    async pause(options = {}) {
      checkOptions(options, WITH_REASON)
      const { reason = null, actor: by = null } = options
      if (await pauseClaiming(store, { reason, by })) bus.emit('claiming.paused', { reason, by })
    },
    async resume(options = {}) {
      checkOptions(options, VERB)
      const { actor: by = null } = options
      const changed = await store.transaction(async (session) => {
        const isNew = await resumeClaiming(session)
        if (isNew) await notify(session, store.channel, 'runs')
        return isNew
      })
      if (changed) bus.emit('claiming.resumed', { by })
    },
    async status() {
      const row = await readClaiming(store)
      return {
        paused: row.paused_at !== null,
        reason: row.paused_reason,
        by: row.paused_by,
        since: row.paused_at,
      }
    },
  }
}
