import { randomBytes } from 'node:crypto'
import type { Instant } from '../time/instant.js'

/** A UUIDv7: ids of schedules created one after another lie beside each other in the index. */
export function newScheduleId(now: Instant): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(now, 0, 6)
  bytes[6] = (bytes[6]! & 0x0f) | 0x70
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
