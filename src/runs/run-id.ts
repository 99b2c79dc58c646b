import { createHash, hash } from 'node:crypto'
import type { Instant } from '../time/instant.js'
import { uuidFrom } from './uuid.js'

/** The namespace of all scheduled runs. Fixed for ever: a changed one would make old occurrences run again. */
export const RUN_ID_NAMESPACE = '0d6a6d0e-3a5b-5f0e-9d3c-6f1f6f8a2b41'

const namespaceBytes = Buffer.from(RUN_ID_NAMESPACE.replaceAll('-', ''), 'hex')

/**
 * The id of the run of one occurrence: the milliseconds of its plan time, then the UUIDv5 of
 * `<schedule id>|<scope>|<plan time, ISO, ms, Z>`, as a UUIDv8. Whoever decides the occurrence again, on any host, after any
 * crash, arrives at the same id, and the primary key refuses the second row. By time, so that what is planned together lies
 * together in the indexes, however many lie before.
 */
export function runIdOf(scheduleId: string, scope: string, planTime: Instant): string {
  const name = uuidOf(`${scheduleId}|${scope}|${new Date(planTime).toISOString()}`)
  // Before 1970 the number is negative: as two's complement.
  const time = (planTime < 0 ? planTime + 2 ** 48 : planTime).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-8${name.slice(15)}`
}

/** The UUIDv5 of a name in our namespace. */
export function uuidOf(name: string): string {
  const bytes = Buffer.allocUnsafe(namespaceBytes.length + Buffer.byteLength(name))
  namespaceBytes.copy(bytes)
  bytes.write(name, namespaceBytes.length)
  const hex = hash('sha1', bytes, 'hex')
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) & 0b11)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/**
 * The id of a direct run that was asked for under a key: a UUIDv8 of the first bytes of the SHA-256 of
 * `escapement|direct|<job>`, a zero byte and `<key>`. The SQL function `enqueue` derives the same. No text of
 * PostgreSQL holds a zero byte, so that no job and key can pass for another job and key.
 */
export function directRunIdOf(job: string, key: string): string {
  return uuidFrom(createHash('sha256').update(`escapement|direct|${job}\0${key}`).digest(), 8)
}
