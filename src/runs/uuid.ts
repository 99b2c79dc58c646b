import { type Chance, hostChance } from '../chance.js'
import type { Instant } from '../time/instant.js'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function isUuid(text: unknown): boolean {
  return typeof text === 'string' && UUID.test(text)
}

/** The first 16 bytes as a UUID of that version, with the variant of RFC 9562. */
export function uuidFrom(bytes: Buffer, version: 4 | 5 | 7 | 8): string {
  bytes[6] = (bytes[6]! & 0x0f) | (version << 4)
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex', 0, 16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** A UUIDv4. */
export function randomUuid(chance: Chance): string {
  return uuidFrom(chance.bytes(16), 4)
}

/** A UUIDv7: what is created one after another lies side by side in the index. */
export function newUuid(now: Instant, chance: Chance = hostChance): string {
  const bytes = chance.bytes(16)
  bytes.writeUIntBE(now, 0, 6)
  return uuidFrom(bytes, 7)
}

const RANDOM_DIGITS = 14
const COUNTED = 2 ** 18
const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0')
const VARIANT_BYTES = Array.from({ length: 64 }, (_, low) => hex(0x80 | low, 2))

/**
 * Any number of them from one instant on, each greater than the one before it: 18 bits count, 56 are random. Those beyond
 * what 18 bits count take the next millisecond.
 */
export function newUuids(now: Instant, count: number, chance: Chance = hostChance): string[] {
  const random = chance.bytes((RANDOM_DIGITS / 2) * count).toString('hex')
  const ids: string[] = []
  let head = ''
  for (let index = 0; index < count; index++) {
    const low = index % 64
    if (low === 0) {
      const time = hex(now + Math.floor(index / COUNTED), 12)
      head = `${time.slice(0, 8)}-${time.slice(8)}-7${hex((index % COUNTED) / 64, 3)}-`
    }
    const at = RANDOM_DIGITS * index
    ids.push(
      `${head}${VARIANT_BYTES[low]}${random.slice(at, at + 2)}-${random.slice(at + 2, at + RANDOM_DIGITS)}`,
    )
  }
  return ids
}
