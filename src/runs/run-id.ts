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
  const { iso, hex } = textsOf(planTime)
  return `${hex.slice(0, 8)}-${hex.slice(8)}-8${endOf(digestOf(`${scheduleId}|${scope}|${iso}`))}`
}

/** The plan time in the id of the run of an occurrence. */
export function planTimeOf(runId: string): Instant {
  const ms = Number.parseInt(runId.slice(0, 8) + runId.slice(9, 13), 16)
  return ms >= 2 ** 47 ? ms - 2 ** 48 : ms
}

/** The UUIDv5 of a name in our namespace. */
export function uuidOf(name: string): string {
  const digest = digestOf(name)
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${endOf(digest)}`
}

/** What follows the version in a UUID. */
function endOf(digest: string): string {
  const variant = '89ab'.charAt(Number.parseInt(digest.charAt(16), 16) & 0b11)
  return `${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`
}

function digestOf(name: string): string {
  const bytes = Buffer.allocUnsafe(namespaceBytes.length + Buffer.byteLength(name))
  namespaceBytes.copy(bytes)
  bytes.write(name, namespaceBytes.length)
  return hash('sha1', bytes, 'hex')
}

let last = { planTime: Number.NaN, iso: '', hex: '' }

/** Those of the latest one are kept: what is planned together mostly has one plan time. */
function textsOf(planTime: Instant): { iso: string; hex: string } {
  if (last.planTime !== planTime) {
    // Before 1970 the number is negative: as two's complement.
    const hex = (planTime < 0 ? planTime + 2 ** 48 : planTime).toString(16).padStart(12, '0')
    last = { planTime, iso: new Date(planTime).toISOString(), hex }
  }
  return last
}

/**
 * The id of a direct run that was asked for under a key: a UUIDv8 of the first bytes of the SHA-256 of
 * `escapement|direct|<job>`, a zero byte and `<key>`. The SQL function `enqueue` derives the same. No text of
 * PostgreSQL holds a zero byte, so that no job and key can pass for another job and key.
 */
export function directRunIdOf(job: string, key: string): string {
  return uuidFrom(createHash('sha256').update(`escapement|direct|${job}\0${key}`).digest(), 8)
}
