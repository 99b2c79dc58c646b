import { EscapementError } from '../../errors.js'
import type { EngineHere } from '../../store/pglite-here.js'
import type { Instant } from '../../time/instant.js'
import { type Call, Calls } from './calls.js'
import { Chronicle } from './chronicle.js'
import { SimulationFailure } from './failure.js'
import { drawFault, type Fault, type FaultRates, isSimulated, NO_FAULTS } from './faults.js'
import { createObserver, type Observer } from './observer.js'
import { Population } from './population.js'
import type { Define, ProcessLife, ProcessOptions } from './process.js'
import { type SeededChance, seededChance } from './seeded-chance.js'
import { SimulatedTime } from './simulated-time.js'
import type { Act } from './verbs.js'
import { Witness } from './witness.js'

/** Turns of the host's loop in which nobody asked for another, after which all who were answered have come to their next wait. */
const QUIET_TURNS = 2
/** How often loops wake although nothing is due, as they do all the time where time is not simulated. */
const ATTENTIVE = 0.05
/** How probable it is for each process whose sleep is over that it wakes. */
const WAKEFUL = 0.3
/** Statements at one instant, after which nothing comes of it any more. */
const MOST_AT_ONCE = 20_000
const LONGEST_DELAY_MS = 60_000
const FIRST_PATIENCE_MS = 1_000
const LONGEST_PATIENCE_MS = 10 * 60_000
const HEALED_WITHIN_MS = 24 * 3_600_000

export interface SimulationParts {
  seed: number
  at: Instant
  processes: number
  faults: FaultRates
  verbs: { everyMs: number; act: Act } | null
  options: ProcessOptions
  define: Define
}

interface Notice {
  life: ProcessLife
  listener(payload: string): void
  payload: string
}

/**
 * One seed, played. Processes are real (their loops turn, their handlers run), but all that they wait for is in here: time, and
 * the answers of the database. When all of them wait, chance picks whose call is carried out next, and what befalls it; when
 * none has a call, time moves to where something is due. So there is one order, and the seed decides it.
 */
export class Simulation {
  readonly time: SimulatedTime
  readonly chronicle: Chronicle
  readonly witness: Witness
  readonly counts: Record<Fault | 'verb', number>
  readonly #parts: SimulationParts
  readonly #chance: SeededChance
  readonly #calls: Calls
  readonly #population: Population
  readonly #world = { isFrozen: () => false }
  #notices: Notice[] = []
  #observer!: Observer
  #faults: FaultRates = NO_FAULTS
  #failure: SimulationFailure | null = null
  /** Whose verbs are under way. */
  readonly #acting = new Set<{ life: ProcessLife }>()
  #stepsAtOnce = 0
  /** When something is due, as it was found out last. */
  #due = { asked: '', at: 0 }
  /** How often in a row something was due that nobody has done. */
  #fruitless = 0

  constructor(engine: EngineHere, parts: SimulationParts) {
    this.#parts = parts
    this.time = new SimulatedTime(parts.at)
    this.chronicle = new Chronicle(() => this.time.now)
    this.witness = new Witness(() => this.time.now, this.chronicle)
    this.#chance = seededChance(parts.seed, 'order')
    this.#calls = new Calls(engine, this.chronicle)
    this.#population = new Population({
      ...parts,
      time: this.time,
      chance: this.#chance,
      calls: this.#calls,
      chronicle: this.chronicle,
      witness: this.witness,
      onFailure: (problem, cause) => this.#fail([problem], cause),
    })
    this.counts = { ...NO_FAULTS, verb: 0 }
    engine.onNotification = (channel, payload) => this.#hear(channel, payload)
  }

  static async create(engine: EngineHere, parts: SimulationParts): Promise<Simulation> {
    const simulation = new Simulation(engine, parts)
    simulation.#observer = await createObserver(engine, simulation.time, parts)
    return simulation
  }

  get observer(): Observer {
    return this.#observer
  }

  /** Starts all processes. No fault befalls them yet. */
  async begin(): Promise<void> {
    const population = this.#population
    population.startAll()
    const isUp = () => population.isComplete && population.living().every(({ assembly }) => assembly)
    await this.#play(Number.POSITIVE_INFINITY, async () => isUp())
    this.#faults = this.#parts.faults
    this.#actLater()
  }

  /** Lets time pass, with all that befalls. */
  async pass(ms: number): Promise<void> {
    await this.#play(this.time.now + ms)
  }

  /** No more faults and verbs; all processes run. Plays until nothing is left to do. */
  async heal(): Promise<void> {
    this.#faults = NO_FAULTS
    this.#population.isMended = true
    this.chronicle.tell('world', 'heals')
    this.#population.startAll()
    const until = this.time.now + HEALED_WITHIN_MS
    // What is being asked for may be to pause claiming: it goes on once no verb is left, and no transaction that this would be part of.
    await this.#play(
      until,
      async () => !this.#calls.isHeld && [...this.#acting].every(({ life }) => life.isGone),
    )
    await this.#observer.escapement.claiming.resume()
    const isHealed = await this.#play(until, () => this.#isAtRest())
    if (!isHealed)
      throw this.#failed(['stuck: a day after all faults have ended, something is still to be done'])
  }

  fail(problems: readonly string[], cause?: unknown): never {
    throw this.#failed(problems, cause)
  }

  async #isAtRest(): Promise<boolean> {
    const lives = this.#population.living()
    if (this.#calls.isHeld || !this.#population.isComplete) return false
    if (lives.some((life) => life.isStopping || !life.assembly || life.assembly.worker.running() > 0))
      return false
    return (await this.#msUntilDue()) > 0 && !(await this.#observer.hasLeases())
  }

  /** Plays until an instant, or until it is done. Returns whether it is. */
  async #play(until: Instant, isDone: () => Promise<boolean> = async () => false): Promise<boolean> {
    for (;;) {
      await this.#settle()
      if (this.#failure) throw this.#failure
      const calls = this.#calls.ready(this.time.now)
      this.#notices = this.#notices.filter(({ life }) => !life.isGone)
      const notices = this.#notices.filter(({ life }) => !life.isFrozen())
      if (calls.length + notices.length > 0) {
        this.#stepsAtOnce += 1
        if (this.#stepsAtOnce > MOST_AT_ONCE)
          throw this.#failed(['stuck: it does not come to rest at one instant'])
        const pick = this.#chance.below(calls.length + notices.length)
        if (pick < calls.length) await this.#carryOut(calls[pick]!)
        else this.#deliver(notices[pick - calls.length]!)
        continue
      }
      if (await isDone()) return true
      if (!(await this.#moveOn(until))) return false
    }
  }

  /** Lets processes come to where they wait: what they do in between is done in turns of the host's loop. */
  async #settle(): Promise<void> {
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    for (let quiet = 0; quiet < QUIET_TURNS; quiet = isTurning() ? 0 : quiet + 1) await turn()
    // These read files, which takes as long as it takes: until they have, nobody goes on.
    for (const life of this.#population.living()) {
      while (life.isLoading && !this.#calls.isAsking(life) && !this.#failure) await turn()
      life.isLoading = false
    }
  }

  /** Moves time to what is due next, and wakes those who sleep until then, or some of them. */
  async #moveOn(until: Instant): Promise<boolean> {
    const { at: next, isForLoops } = await this.#next()
    if (next > until || next === Number.POSITIVE_INFINITY) {
      this.time.moveTo(until)
      return false
    }
    if (next > this.time.now) this.#stepsAtOnce = 0
    this.time.moveTo(next)
    this.time.endTimers()
    if (isForLoops) this.#wakeSome()
    return true
  }

  /** Where something is due, or a wait ends that is no mere sleep; and whether loops are to wake for it. */
  async #next(): Promise<{ at: Instant; isForLoops: boolean }> {
    const soonest = { at: this.time.next({ idle: true }), isForLoops: true }
    if (this.#calls.isHeld || this.#chance.happens(ATTENTIVE)) return soonest
    const ms = await this.#msUntilDue()
    const timers = this.time.next({ idle: false })
    if (ms === 0) {
      // Due, and yet it is not done: claiming is paused, say. Those who look again and again do so ever more rarely.
      const patienceMs = Math.min(FIRST_PATIENCE_MS * 2 ** this.#fruitless++, LONGEST_PATIENCE_MS)
      return { at: Math.min(timers, Math.max(soonest.at, this.time.now + patienceMs)), isForLoops: true }
    }
    this.#fruitless = 0
    return { at: Math.min(this.time.now + ms, timers), isForLoops: this.time.now + ms <= timers }
  }

  /** Asked again only when a statement was carried out, or somebody has started, since. */
  async #msUntilDue(): Promise<number> {
    const asked = `${this.chronicle.steps} ${this.#population.mark}`
    if (asked !== this.#due.asked) {
      this.#due = { asked, at: this.time.now + (await this.#observer.msUntilDue(this.#population.living())) }
    }
    return Math.max(0, this.#due.at - this.time.now)
  }

  /** The rest sleeps on, as if it were held up; at least one wakes. */
  #wakeSome(): void {
    const overdue = this.time.overdue()
    const awake = overdue.filter(() => this.#chance.happens(WAKEFUL))
    if (awake.length === 0 && overdue.length > 0) awake.push(this.#chance.pick(overdue))
    for (const one of awake) this.time.wake(one)
  }

  async #carryOut(call: Call): Promise<void> {
    const life = call.life as ProcessLife
    const fault = drawFault(this.#faults, this.#chance)
    const isAfter = this.#chance.happens(0.5)
    if (fault === null) return this.#calls.answer(call, await this.#calls.carryOut(call))
    this.counts[fault] += 1
    this.chronicle.tell(life.name, `${fault}${isAfter ? ' (after the statement)' : ''}`)
    switch (fault) {
      case 'crash':
        if (isAfter) await this.#calls.carryOut(call)
        return this.#population.end(life)
      case 'connection':
        if (isAfter) await this.#calls.carryOut(call)
        return this.#calls.breakOff(call)
      case 'delay': {
        const ms = this.#chance.below(LONGEST_DELAY_MS)
        call.notBefore = this.time.now + ms
        this.time.after(this.#world, ms, () => {})
        return
      }
      case 'freeze':
        return this.#population.freeze(life)
      case 'restart':
        this.#calls.answer(call, await this.#calls.carryOut(call))
        this.#population.restart(life)
    }
  }

  #actLater(): void {
    const { verbs } = this.#parts
    if (verbs === null) return
    const ms = this.#chance.below(2 * verbs.everyMs)
    this.time.after(this.#world, ms, () => {
      if (this.#population.isMended) return
      this.#act(verbs.act)
      this.#actLater()
    })
  }

  #act(act: Act): void {
    const able = this.#population.living().filter(({ assembly, isStopping }) => assembly && !isStopping)
    if (able.length === 0) return
    const life = this.#chance.pick(able)
    this.counts.verb += 1
    const acting = { life }
    this.#acting.add(acting)
    act(this.witness.hearing(life.assembly!.escapement), life.host)
      .then(
        (what) => this.chronicle.tell(life.name, what),
        (error) => {
          this.chronicle.tell(life.name, `is refused: ${String(error)}`)
          if (!(error instanceof EscapementError) && !isSimulated(error)) this.#fail(['a verb failed'], error)
        },
      )
      .finally(() => this.#acting.delete(acting))
  }

  #hear(channel: string, payload: string): void {
    for (const life of this.#population.living()) {
      for (const listener of life.listeners.get(channel) ?? []) {
        if (this.#chance.happens(this.#faults.notification)) this.counts.notification += 1
        else this.#notices.push({ life, listener, payload })
      }
    }
  }

  #deliver(notice: Notice): void {
    this.#notices.splice(this.#notices.indexOf(notice), 1)
    this.chronicle.tell(notice.life.name, `hears ${notice.payload}`)
    notice.listener(notice.payload)
  }

  #fail(problems: readonly string[], cause: unknown): void {
    this.#failure ??= this.#failed([...problems, String((cause as Error)?.stack ?? cause)], cause)
  }

  #failed(problems: readonly string[], cause?: unknown): SimulationFailure {
    const { chronicle } = this
    return new SimulationFailure(problems, {
      seed: this.#parts.seed,
      step: chronicle.steps,
      events: chronicle.last(),
      cause,
    })
  }
}

/** Whether somebody goes on in the next turn of the host's loop: long computations take breath like this. */
function isTurning(): boolean {
  return process.getActiveResourcesInfo().includes('Immediate')
}
