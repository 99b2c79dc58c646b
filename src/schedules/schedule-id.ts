import type { Chance } from '../chance.js'
import { newUuid } from '../runs/uuid.js'
import type { Instant } from '../time/instant.js'

/** A UUIDv7: ids of schedules created one after another lie beside each other in the index. */
export function newScheduleId(now: Instant, chance: Chance): string {
  return newUuid(now, chance)
}
