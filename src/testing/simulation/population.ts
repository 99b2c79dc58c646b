import type { Calls } from './calls.js'
import type { Chronicle } from './chronicle.js'
import { isSimulated } from './faults.js'
import { type Define, ProcessLife, type ProcessOptions } from './process.js'
import { type SeededChance, seededChance } from './seeded-chance.js'
import type { SimulatedTime } from './simulated-time.js'
import type { Witness } from './witness.js'

const LONGEST_DOWN_MS = 10 * 60_000
const LONGEST_FREEZE_MS = 10 * 60_000

interface PopulationParts {
  seed: number
  processes: number
  options: ProcessOptions
  define: Define
  time: SimulatedTime
  chance: SeededChance
  calls: Calls
  chronicle: Chronicle
  witness: Witness
  onFailure(problem: string, cause: unknown): void
}

/** The processes: how they come, end, freeze, and come back under the same name. */
export class Population {
  /** Processes that end from now on come back at once. */
  isMended = false
  readonly #parts: PopulationParts
  readonly #lives: (ProcessLife | null)[]
  readonly #births: number[]
  readonly #world = { isFrozen: () => false }

  constructor(parts: PopulationParts) {
    this.#parts = parts
    this.#lives = Array.from({ length: parts.processes }, () => null)
    this.#births = this.#lives.map(() => 0)
  }

  living(): ProcessLife[] {
    return this.#lives.filter((life) => life !== null)
  }

  get isComplete(): boolean {
    return !this.#lives.includes(null)
  }

  /** The same as long as nobody starts or ends. */
  get mark(): string {
    return `${this.#births} ${this.living().map(({ assembly }) => assembly !== null)}`
  }

  /** Starts those that are not there, and nobody is frozen any more. */
  startAll(): void {
    for (const [index, life] of this.#lives.entries()) {
      if (life === null) this.#start(index)
      else life.frozenUntil = Number.NEGATIVE_INFINITY
    }
  }

  async freeze(life: ProcessLife): Promise<void> {
    const { time, chance, calls } = this.#parts
    const ms = chance.below(LONGEST_FREEZE_MS)
    life.frozenUntil = time.now + ms
    time.after(this.#world, ms, () => {})
    await calls.endTransactionOf(life)
  }

  /** As a deployment does it: what is under way may end, and the next one starts when the last has ended. */
  restart(life: ProcessLife): void {
    if (life.isStopping || !life.assembly) return
    life.isStopping = true
    this.#parts.witness.interrupt(life)
    life.assembly.escapement.close().then(
      async () => {
        if (!life.isGone) await this.end(life)
      },
      (error) => this.#parts.onFailure(`${life.name}: stopping failed`, error),
    )
  }

  /** Of a process nothing is left but what it has written down. It starts anew after a while. */
  async end(life: ProcessLife): Promise<void> {
    const { time, chance, calls, witness } = this.#parts
    const index = this.#lives.indexOf(life)
    this.#lives[index] = null
    life.isGone = true
    witness.lose(life)
    time.forget(life)
    const ms = this.isMended ? 0 : chance.below(LONGEST_DOWN_MS)
    time.after(this.#world, ms, () => this.#lives[index] === null && this.#start(index))
    await calls.forget(life)
  }

  #start(index: number): void {
    const { seed, time, chronicle, calls, witness, options, define, onFailure } = this.#parts
    const birth = this.#births[index]!++
    const name = `process-${index}`
    const life = new ProcessLife(name, time, seededChance(seed, `${name} ${birth}`))
    this.#lives[index] = life
    chronicle.tell(name, 'starts')
    life.begin({ calls, witness, options, define }).catch(async (error) => {
      if (!isSimulated(error)) return onFailure(`${name}: it could not start`, error)
      if (!life.isGone) await this.end(life)
    })
  }
}
