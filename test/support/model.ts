/**
 * The reference model of one schedule, as plain as possible: it enumerates every plan time and applies the rules one by
 * one. Seconds since the anchor throughout.
 */
import type { CatchUp, Overlap } from '../../src/index.js'

/** When: multiples of a period however they are written down, or one instant. */
type Rule = { kind: 'every' | 'cron' | 'rrule'; period: number } | { kind: 'once'; at: number }

export interface Content {
  rule: Rule
  limit: number | null
  catchUp: CatchUp
  window: number | null
  grace: number
  overlap: Overlap
  scopes: readonly string[]
}

/** The open runs of one scope, by what they may do. */
interface Open {
  /** Without a lane. */
  free: number
  first: boolean
  second: boolean
  waiting: number
}

export class Model {
  /** What became of a plan time, by scope and plan time. */
  readonly ledger = new Map<string, { at: number; scope: string; what: string }>()
  readonly requests = new Set<number>()
  readonly created: number
  state: 'active' | 'paused' | 'finished' = 'active'
  pauseEnds = Number.POSITIVE_INFINITY
  decided: number
  now: number
  content: Content
  private readonly open = new Map<string, Open>()

  constructor(now: number, content: Content) {
    this.now = now
    this.content = content
    this.created = now
    const first = content.rule.kind === 'once' ? Math.min(content.rule.at, now) : now
    this.decided = first - 1
  }

  /** The first plan time after an instant. */
  next(after: number): number {
    const { rule, limit } = this.content
    if (rule.kind === 'once') return rule.at > after ? rule.at : Number.POSITIVE_INFINITY
    const from = Math.max(after + 1, this.created)
    const at = Math.ceil(from / rule.period) * rule.period
    const counted = (at - Math.ceil(this.created / rule.period) * rule.period) / rule.period
    return limit !== null && counted >= limit ? Number.POSITIVE_INFINITY : at
  }

  /** When something is to be done about it by itself. */
  nextDue(): number {
    if (this.state === 'paused') return this.pauseEnds
    return this.state === 'active' ? this.next(this.decided) : Number.POSITIVE_INFINITY
  }

  /** What a verb does before it changes anything. */
  settle(): void {
    this.endPause()
    if (this.state !== 'finished') this.decideThrough(this.now)
    this.decided = Math.max(this.decided, this.now)
  }

  /** A pause that lasts is derived: nothing is decided by a tick. */
  tick(): void {
    this.endPause()
    if (this.state !== 'active' || this.next(this.decided) > this.now) return
    this.settle()
    this.finish()
  }

  put(content: Content): void {
    this.settle()
    const before = this.content
    this.content = content
    const isNewRule =
      JSON.stringify([before.rule, before.limit]) !== JSON.stringify([content.rule, content.limit])
    if (this.state === 'finished' && isNewRule) this.state = 'active'
    this.finish()
    if ((before.overlap === 'allow') === (content.overlap === 'allow')) return
    for (const lanes of this.open.values()) {
      if (content.overlap === 'allow') {
        lanes.free += Number(lanes.first) + Number(lanes.second) + lanes.waiting
        Object.assign(lanes, { first: false, second: false, waiting: 0 })
      } else {
        lanes.waiting += lanes.free
        lanes.free = 0
        this.fill(lanes)
      }
    }
  }

  pause(until: number): void {
    this.endPause()
    if (this.state === 'finished') return
    this.settle()
    this.state = 'paused'
    this.pauseEnds = until
  }

  /** A schedule whose pause is over has nothing to be resumed from, and what is due is left to the next tick. */
  resume(): void {
    this.endPause()
    if (this.state !== 'paused') return
    this.settle()
    this.state = 'active'
    this.finish()
  }

  /** Whether it is not refused. */
  trigger(): boolean {
    this.settle()
    this.finish()
    const lanes = this.lanesOf(this.content.scopes[0]!)
    if (this.content.overlap === 'allow') lanes.free += 1
    else if (lanes.first) return false
    else lanes.first = true
    return true
  }

  /** Wishes a plan time to come away, or takes the wish back. */
  request(verb: 'skip' | 'unskip', at: number): void {
    this.settle()
    this.finish()
    if (verb === 'skip') this.requests.add(at)
    else this.requests.delete(at)
  }

  backfill(from: number): void {
    this.endPause()
    for (const occurrence of this.ledger.values()) {
      if (occurrence.at < from || occurrence.what === 'run') continue
      occurrence.what = 'run'
      const lanes = this.lanesOf(occurrence.scope)
      if (this.content.overlap === 'allow') lanes.free += 1
      else lanes.waiting += 1
      this.fill(lanes)
    }
  }

  /** All that is open runs, one after the other. */
  work(): void {
    this.open.clear()
  }

  /** Any verb ends a pause that is over, at its own time; what follows is left to the next tick. */
  endPause(): void {
    if (this.state !== 'paused' || this.pauseEnds > this.now) return
    this.decideThrough(this.pauseEnds)
    this.decided = Math.max(this.decided, this.pauseEnds)
    this.state = 'active'
    this.finish()
  }

  private finish(): void {
    if (this.state === 'active' && this.next(this.decided) === Number.POSITIVE_INFINITY)
      this.state = 'finished'
  }

  private decideThrough(end: number): void {
    const due: number[] = []
    for (let at = this.next(this.decided); at <= end; at = this.next(at)) due.push(at)
    const { catchUp, window, grace } = this.content
    const isOnTime = (at: number) => this.now - at < grace
    const hasExpired = (at: number) => !isOnTime(at) && window !== null && this.now - at > window
    const wanted = due.filter((at) => !this.requests.has(at))
    const late = wanted.filter((at) => !isOnTime(at) && !hasExpired(at))
    const anyOnTime = wanted.some(isOnTime)
    for (const at of due) {
      if (this.state === 'paused') this.record(at, 'paused')
      else if (this.requests.has(at)) this.record(at, 'operator')
      else if (isOnTime(at)) this.record(at, 'run')
      else if (hasExpired(at)) this.record(at, 'expired')
      else if (catchUp === 'all') this.record(at, 'run')
      else if (catchUp === 'latest' && !anyOnTime && at === late.at(-1)) this.record(at, 'run')
      else this.record(at, 'missed')
    }
  }

  private record(at: number, what: string): void {
    for (const scope of this.content.scopes) {
      const became = what === 'run' && !this.admits(scope) ? 'overlap' : what
      this.ledger.set(`${at} ${scope}`, { at, scope, what: became })
    }
  }

  private admits(scope: string): boolean {
    const lanes = this.lanesOf(scope)
    if (this.content.overlap === 'allow') lanes.free += 1
    else if (!lanes.first) lanes.first = true
    else if (this.content.overlap === 'queue' && !lanes.second) lanes.second = true
    else return false
    return true
  }

  private fill(lanes: Open): void {
    if (lanes.first || lanes.waiting === 0) return
    lanes.first = true
    lanes.waiting -= 1
  }

  private lanesOf(scope: string): Open {
    const lanes = this.open.get(scope) ?? { free: 0, first: false, second: false, waiting: 0 }
    this.open.set(scope, lanes)
    return lanes
  }
}
