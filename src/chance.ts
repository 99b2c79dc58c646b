import { randomBytes } from 'node:crypto'

/** Where chance comes from: new ids, lease tokens, the jitter of retries. A simulation draws all of it from its seed. */
export interface Chance {
  bytes(count: number): Buffer
  /** From 0 up to, and without, 1. */
  fraction(): number
}

/** The chance of production. */
export const hostChance: Chance = { bytes: randomBytes, fraction: Math.random }
