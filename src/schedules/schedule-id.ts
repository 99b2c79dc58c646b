import { newUuid } from '../runs/uuid.js'
import type { Instant } from '../time/instant.js'

/** A UUIDv7: ids of schedules created one after another lie beside each other in the index. */
export function newScheduleId(now: Instant): string {
  return newUuid(now)
}
