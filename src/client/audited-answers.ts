import type { SkipReason } from '../schedules/catch-up.js'
import type { AuditedRun, AuditedSkip } from '../store/queries/auditing.js'
import type { Instant } from '../time/instant.js'

/** Rows in order, of which only a portion is in memory: those that are at hand, and then what `more` gives. */
export class Rows<Row> {
  #portion: readonly Row[]
  #next = 0
  readonly #more: AsyncGenerator<Row[], void> | undefined
  #isOver: boolean

  constructor(portion: readonly Row[], more?: AsyncGenerator<Row[], void>) {
    this.#portion = portion
    this.#more = more
    this.#isOver = more === undefined
  }

  /** Nothing is at hand, and there may be more. */
  get isDry(): boolean {
    return this.#next === this.#portion.length && !this.#isOver
  }

  get first(): Row | undefined {
    return this.#portion[this.#next]
  }

  drop(): void {
    this.#next += 1
  }

  async fill(): Promise<void> {
    if (!this.isDry) return
    const { done, value } = await this.#more!.next()
    this.#isOver = done === true
    this.#portion = value ?? []
    this.#next = 0
  }
}

interface Skip {
  scope: string
  first: Instant
  last: Instant
  reason: SkipReason
  /** Whether a plan time that was asked for is one of its ends. */
  isMet: boolean
}

/** Hears of answers that were not asked for, in the order of time. */
export interface Unasked {
  run(run: AuditedRun, at: Instant): void
  skip(skip: Skip): void
}

/** The runs and skips of a schedule. Plan times are asked for in ascending order, and what lies behind is let go. */
export class Answers {
  readonly #runs: Rows<AuditedRun>
  readonly #skips: Rows<AuditedSkip>
  readonly #unasked: Unasked
  #at: Instant = Number.NEGATIVE_INFINITY
  #runsHere = new Map<string, AuditedRun[]>()
  /** Those that cover the plan time at hand, by scope. */
  readonly #skipsHere = new Map<string, Skip[]>()
  #firstToEnd: Instant = Number.POSITIVE_INFINITY

  constructor(runs: Rows<AuditedRun>, skips: Rows<AuditedSkip>, unasked: Unasked) {
    this.#runs = runs
    this.#skips = skips
    this.#unasked = unasked
  }

  async fill(): Promise<void> {
    await this.#runs.fill()
    await this.#skips.fill()
  }

  /** Goes on to a plan time. False where rows are missing: it goes on after `fill`. */
  goTo(at: Instant): boolean {
    if (at !== this.#at) {
      for (const run of [...this.#runsHere.values()].flat()) this.#unasked.run(run, this.#at)
      this.#runsHere = new Map()
      this.#at = at
    }
    return this.#takeRuns(at) && this.#takeSkips(at)
  }

  #takeRuns(at: Instant): boolean {
    for (let run = this.#runs.first; run !== undefined; run = this.#runs.first) {
      const planTime = run.plan_time.getTime()
      if (planTime > at) return true
      this.#runs.drop()
      if (planTime < at) this.#unasked.run(run, planTime)
      else push(this.#runsHere, run.scope, run)
    }
    return !this.#runs.isDry
  }

  #takeSkips(at: Instant): boolean {
    for (let row = this.#skips.first; row !== undefined; row = this.#skips.first) {
      const first = row.first_plan_time.getTime()
      if (first > at) break
      this.#skips.drop()
      const skip = {
        scope: row.scope,
        first,
        last: row.last_plan_time.getTime(),
        reason: row.reason,
        isMet: false,
      }
      push(this.#skipsHere, row.scope, skip)
      this.#firstToEnd = Math.min(this.#firstToEnd, skip.last)
    }
    if (this.#skips.isDry) return false
    if (this.#firstToEnd < at) this.#letGo(at)
    return true
  }

  /** Forgets the skips that lie behind. */
  #letGo(at: Instant): void {
    this.#firstToEnd = Number.POSITIVE_INFINITY
    for (const [scope, skips] of this.#skipsHere) {
      const left = skips.filter((skip) => {
        if (skip.last < at && !skip.isMet) this.#unasked.skip(skip)
        return skip.last >= at
      })
      if (left.length === 0) this.#skipsHere.delete(scope)
      else this.#skipsHere.set(scope, left)
      for (const { last } of left) this.#firstToEnd = Math.min(this.#firstToEnd, last)
    }
  }

  /** The scopes that have an answer here. */
  scopes(): string[] {
    return [...new Set([...this.#runsHere.keys(), ...this.#skipsHere.keys()])]
  }

  /** The answers to one occurrence. */
  take(scope: string): { runs: readonly AuditedRun[]; skips: readonly Skip[] } {
    const runs = this.#runsHere.get(scope) ?? []
    this.#runsHere.delete(scope)
    const skips = this.#skipsHere.get(scope) ?? []
    for (const skip of skips) skip.isMet ||= skip.first === this.#at || skip.last === this.#at
    return { runs, skips }
  }

  /**
   * How far each of these scopes, or each that has an answer here, goes on to have one and the same answer: a skip for one
   * of these reasons, and no run. Plan times up to there need no look.
   */
  skippedThrough(scopes: readonly string[] | null, isExpected: (reason: SkipReason) => boolean): Instant {
    let through =
      Math.min(startOf(this.#runs.first?.plan_time), startOf(this.#skips.first?.first_plan_time)) - 1
    if (this.#skipsHere.size === 0) return this.#at
    for (const scope of scopes ?? this.#skipsHere.keys()) {
      const [skip, other] = this.#skipsHere.get(scope) ?? []
      if (skip === undefined || other !== undefined || !isExpected(skip.reason)) return this.#at
      through = Math.min(through, skip.last)
    }
    return through
  }

  /** How many scopes have a skip here. */
  get scopesSkipped(): number {
    return this.#skipsHere.size
  }
}

function startOf(date: Date | undefined): Instant {
  return date?.getTime() ?? Number.POSITIVE_INFINITY
}

function push<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}
