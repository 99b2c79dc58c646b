import { createHash } from 'node:crypto'
import type { Instant } from '../time/instant.js'

/** The namespace of all scheduled runs. Fixed for ever: a changed one would make old occurrences run again. */
export const RUN_ID_NAMESPACE = '0d6a6d0e-3a5b-5f0e-9d3c-6f1f6f8a2b41'

const namespaceBytes = Buffer.from(RUN_ID_NAMESPACE.replaceAll('-', ''), 'hex')

/**
 * The id of the run of one occurrence: UUIDv5 of `<schedule id>|<scope>|<plan time, ISO, ms, Z>`. Whoever decides the
 * occurrence again, on any host, after any crash, arrives at the same id, and the primary key refuses the second row.
 */
export function runIdOf(scheduleId: string, scope: string, planTime: Instant): string {
  return uuidOf(`${scheduleId}|${scope}|${new Date(planTime).toISOString()}`)
}

/** The UUIDv5 of a name in our namespace. */
export function uuidOf(name: string): string {
  const hash = createHash('sha1').update(namespaceBytes).update(name).digest()
  hash[6] = (hash[6]! & 0x0f) | 0x50
  hash[8] = (hash[8]! & 0x3f) | 0x80
  const hex = hash.toString('hex', 0, 16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
