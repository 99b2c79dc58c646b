/** Signatures as standardwebhooks.com has them: `v1`, HMAC-SHA256 of id, timestamp and body. */
import { createHmac } from 'node:crypto'
import type { Report } from '../time/report.js'

const PREFIX = 'whsec_'
const SHORTEST_BYTES = 24
const LONGEST_BYTES = 64
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** The keys of one secret: several, separated by spaces, while it is being replaced. The secret is never quoted. */
export function readSecret(secret: unknown, field: string, report: Report): Buffer[] {
  const parts = typeof secret === 'string' ? secret.split(/\s+/).filter((part) => part !== '') : []
  const keys = parts.map(keyIn)
  if (keys.length > 0 && keys.every((key) => key !== null)) return keys
  report(
    field,
    `must be ${PREFIX} followed by ${SHORTEST_BYTES} to ${LONGEST_BYTES} bytes in base64, or several of them separated by spaces. ` +
      `Make one with: echo "${PREFIX}$(openssl rand -base64 32)"`,
  )
  return []
}

function keyIn(part: string): Buffer | null {
  const text = part.slice(PREFIX.length)
  if (!part.startsWith(PREFIX) || !BASE64.test(text)) return null
  const key = Buffer.from(text, 'base64')
  return key.length >= SHORTEST_BYTES && key.length <= LONGEST_BYTES ? key : null
}

/** `webhook-signature`: one signature for each key. */
export function signatureOf(
  keys: readonly Buffer[],
  { id, timestamp, body }: { id: string; timestamp: string; body: Buffer },
): string {
  const signed = (key: Buffer) =>
    createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
  return keys.map((key) => `v1,${signed(key)}`).join(' ')
}
