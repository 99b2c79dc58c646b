import { type Assembly, assemble, type Escapement } from '../../escapement.js'
import type { EscapementOptions } from '../../options.js'
import { type DurationInput, durationToMs } from '../../time/duration.js'
import type { Instant } from '../../time/instant.js'
import type { Calls, Life } from './calls.js'
import type { SeededChance } from './seeded-chance.js'
import { type Listeners, simulatedDatabase } from './simulated-database.js'
import type { SimulatedTime, Waiting } from './simulated-time.js'
import type { Witness } from './witness.js'

/** What the code of a simulated process has to do with time and chance by: nothing else of these may be used there. */
export interface SimulatedHost {
  /** `process-0`, `process-1` … */
  readonly process: string
  now(): Date
  /** Takes so long, in simulated time; ends early when `signal` aborts. */
  work(duration: DurationInput, signal?: AbortSignal): Promise<void>
  /** From 0 up to, and without, 1, as the seed has it. */
  chance(): number
}

export function createHost(
  owner: Waiting & { readonly name: string },
  time: SimulatedTime,
  { fraction }: SeededChance,
): SimulatedHost {
  return {
    process: owner.name,
    now: () => new Date(time.now),
    work: (duration, signal) => time.work(owner, durationToMs(duration), signal),
    chance: fraction,
  }
}

/** The options that all simulated processes are created with. */
export type ProcessOptions = Omit<EscapementOptions, 'database' | 'clock' | 'migrate' | 'pooler'>

/** Registers jobs, as a process does when it starts. */
export type Define = (escapement: Escapement, host: SimulatedHost) => unknown

/** One life of a simulated process: what it has in memory is gone with it. */
export class ProcessLife implements Life {
  readonly name: string
  readonly locks = new Set<string>()
  readonly listeners: Listeners = new Map()
  readonly chance: SeededChance
  readonly host: SimulatedHost
  readonly #time: SimulatedTime
  /** Once its loops turn. */
  assembly: Assembly | null = null
  isStopping = false
  /** It has died, or ended. */
  isGone = false
  /** It reads files of its own before it asks the database for anything. */
  isLoading = true
  frozenUntil: Instant = Number.NEGATIVE_INFINITY

  constructor(name: string, time: SimulatedTime, chance: SeededChance) {
    this.name = name
    this.#time = time
    this.chance = chance
    this.host = createHost(this, time, chance)
  }

  isFrozen(): boolean {
    return this.frozenUntil > this.#time.now
  }

  /** Resolves when it is defined and its loops turn. */
  async begin(parts: {
    calls: Calls
    witness: Witness
    options: ProcessOptions
    define: Define
  }): Promise<void> {
    const { calls, witness, options, define } = parts
    const assembly = await assemble(
      {
        ...options,
        database: simulatedDatabase(calls, this, this.listeners),
        clock: this.#time.clockOf(this),
        migrate: false,
      },
      this.chance,
    )
    await define(witness.watching(assembly.escapement, this), this.host)
    await assembly.escapement.start()
    this.assembly = assembly
  }
}
