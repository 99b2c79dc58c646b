import { mistakesError } from '../../errors.js'
import { didYouMean } from '../../time/did-you-mean.js'
import type { SeededChance } from './seeded-chance.js'

/** How probable each fault is at a database call, from 0 to 1. */
export interface FaultRates {
  /**
   * The process dies: before the statement, or after it and before its answer. Its open transaction is rolled back, and it
   * starts anew within minutes.
   * @default 0.002
   */
  crash: number
  /**
   * The connection breaks: before the statement arrives, or after it was carried out and before its answer. So it may be that a
   * commit was done and nobody knows.
   * @default 0.01
   */
  connection: number
  /**
   * The statement is held back, for seconds up to a minute.
   * @default 0.005
   */
  delay: number
  /**
   * The process is frozen, for seconds up to ten minutes: its leases run out without its knowing. The server ends its open
   * transaction.
   * @default 0.001
   */
  freeze: number
  /**
   * The process is stopped as a deployment does it, and starts anew.
   * @default 0.0005
   */
  restart: number
  /**
   * A notification does not arrive. Counted for each process that listens.
   * @default 0.1
   */
  notification: number
}

export const FAULT_DEFAULTS = {
  crash: 0.002,
  connection: 0.01,
  delay: 0.005,
  freeze: 0.001,
  restart: 0.0005,
  notification: 0.1,
} satisfies FaultRates

export type Fault = keyof FaultRates

export const NO_FAULTS = Object.fromEntries(
  Object.keys(FAULT_DEFAULTS).map((fault) => [fault, 0]),
) as unknown as FaultRates

/** False is none at all; what is not named has its default. */
export function readFaults(given: Partial<FaultRates> | false | undefined): FaultRates {
  if (given === false) return NO_FAULTS
  const mistakes = Object.entries(given ?? {}).flatMap(([name, rate]) => {
    if (!(name in FAULT_DEFAULTS))
      return [
        { field: `faults.${name}`, message: `unknown fault${didYouMean(name, Object.keys(FAULT_DEFAULTS))}` },
      ]
    return (rate as number) >= 0 && (rate as number) <= 1
      ? []
      : [{ field: `faults.${name}`, message: `${String(rate)} – must be a number from 0 to 1` }]
  })
  if (mistakes.length > 0) throw mistakesError('option_invalid', mistakes)
  return { ...FAULT_DEFAULTS, ...given }
}

const AT_CALLS = ['crash', 'connection', 'delay', 'freeze', 'restart'] as const

/** The fault that befalls a call, if one does. One draw, whatever the rates are. */
export function drawFault(rates: FaultRates, chance: SeededChance): (typeof AT_CALLS)[number] | null {
  let draw = chance.fraction()
  for (const fault of AT_CALLS) {
    draw -= rates[fault]
    if (draw < 0) return fault
  }
  return null
}

/** What a call rejects with whose connection broke, as `pg` says it. */
export class ConnectionBroken extends Error {
  readonly code = 'ECONNRESET'

  constructor() {
    super('Connection terminated unexpectedly (simulated)')
  }
}

/** Whether an error is, or comes from, a fault that was simulated. */
export function isSimulated(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (at instanceof ConnectionBroken) return true
  }
  return false
}
