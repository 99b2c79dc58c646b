/**
 * Random histories of verbs, ticks, outages and clock moves, against a reference model that is as plain as possible:
 * it enumerates every plan time and applies the rules one by one. After each history the ledger must be the model's,
 * plan time by plan time, and `audit` must find nothing. MODEL_RUNS lengthens it, MODEL_SEED repeats one.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type CatchUp, every } from '../../src/index.js'
import type { Harness } from '../../src/testing/harness.js'
import { openHarness } from '../support/harness.js'

const RUNS = Number(process.env.MODEL_RUNS ?? 60)
const SEED = process.env.MODEL_SEED === undefined ? {} : { seed: Number(process.env.MODEL_SEED) }
const ANCHOR = Date.parse('2001-01-01T00:00:00Z')

interface Policy {
  period: number
  catchUp: CatchUp
  window: number | null
  grace: number
}

type Step =
  | { do: 'advance' | 'jump'; seconds: number }
  | { do: 'tick' }
  | { do: 'put'; policy: Policy }
  | { do: 'pause'; forSeconds: number | null }
  | { do: 'resume' | 'touch' }
  | { do: 'skip' | 'unskip'; ahead: number }

/** What should become of one schedule's plan times. Seconds since the anchor throughout. */
class Model {
  readonly ledger = new Map<number, string>()
  readonly requests = new Set<number>()
  paused = false
  pauseEnds = Number.POSITIVE_INFINITY
  decided: number
  readonly created: number
  now: number
  policy: Policy

  constructor(now: number, policy: Policy) {
    this.now = now
    this.policy = policy
    this.created = now
    this.decided = now - 1
  }

  planTimesUntil(end: number): number[] {
    const { period } = this.policy
    const times: number[] = []
    for (
      let at = Math.ceil(Math.max(this.decided + 1, this.created) / period) * period;
      at <= end;
      at += period
    ) {
      if (at > this.decided) times.push(at)
    }
    return times
  }

  nextDue(): number {
    if (this.paused) return this.pauseEnds
    const { period } = this.policy
    return Math.ceil(Math.max(this.decided + 1, this.created) / period) * period
  }

  settle(): void {
    if (this.paused && this.pauseEnds <= this.now) {
      for (const at of this.planTimesUntil(this.pauseEnds)) this.ledger.set(at, 'paused')
      this.decided = Math.max(this.decided, this.pauseEnds)
      this.paused = false
    }
    const due = this.planTimesUntil(this.now)
    if (this.paused) for (const at of due) this.ledger.set(at, 'paused')
    else this.decide(due)
    this.decided = this.now
  }

  /** A pause that lasts is derived: nothing is decided by a tick. */
  tick(): void {
    if (this.paused && this.pauseEnds > this.now) return
    this.settle()
  }

  private decide(due: readonly number[]): void {
    const { catchUp, window, grace } = this.policy
    const isOnTime = (at: number) => this.now - at < grace
    const hasExpired = (at: number) => !isOnTime(at) && window !== null && this.now - at > window
    const open = due.filter((at) => !this.requests.has(at))
    const late = open.filter((at) => !isOnTime(at) && !hasExpired(at))
    const anyOnTime = open.some(isOnTime)
    for (const at of due) {
      if (this.requests.has(at)) this.ledger.set(at, 'operator')
      else if (isOnTime(at)) this.ledger.set(at, 'run')
      else if (hasExpired(at)) this.ledger.set(at, 'expired')
      else if (catchUp === 'all') this.ledger.set(at, 'run')
      else if (catchUp === 'latest' && !anyOnTime && at === late.at(-1)) this.ledger.set(at, 'run')
      else this.ledger.set(at, 'missed')
    }
  }
}

const policy = fc.record<Policy>({
  period: fc.constantFrom(1, 7, 20, 60, 300),
  catchUp: fc.constantFrom('latest', 'none', 'all'),
  window: fc.constantFrom(null, 10, 90, 600),
  grace: fc.constantFrom(1, 5, 60, 120),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('advance' as const), seconds: fc.integer({ min: 0, max: 120 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('jump' as const), seconds: fc.integer({ min: 0, max: 900 }) }),
  },
  { weight: 2, arbitrary: fc.constant<Step>({ do: 'tick' }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('put' as const), policy }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('pause' as const),
      forSeconds: fc.option(fc.integer({ min: 1, max: 400 })),
    }),
  },
  { weight: 2, arbitrary: fc.constantFrom<Step>({ do: 'resume' }, { do: 'touch' }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('skip' as const, 'unskip' as const),
      ahead: fc.integer({ min: 0, max: 5 }),
    }),
  },
)

const definition = ({ period, catchUp, window, grace }: Policy, priority = 0) => ({
  job: 'noop',
  timing: every({ seconds: period }),
  catchUp,
  catchUpLimit: 3,
  grace: { seconds: grace },
  priority,
  ...(window !== null && { catchUpWindow: { seconds: window } }),
})

async function play(h: Harness, name: string, first: Policy, steps: readonly Step[]): Promise<Model> {
  const seconds = () => (h.now().getTime() - ANCHOR) / 1000
  await h.schedules.put(name, definition(first))
  const model = new Model(seconds(), first)
  let touches = 0
  for (const step of steps) {
    switch (step.do) {
      case 'advance': {
        await h.advance({ seconds: step.seconds })
        const target = model.now + step.seconds
        model.tick()
        for (let due = model.nextDue(); due <= target; due = model.nextDue()) {
          model.now = due
          model.tick()
        }
        model.now = target
        break
      }
      case 'jump':
        h.jump({ seconds: step.seconds })
        model.now += step.seconds
        break
      case 'tick':
        await h.advance({ seconds: 0 })
        model.tick()
        break
      case 'put':
        await h.schedules.put(name, definition(step.policy, ++touches))
        model.settle()
        model.policy = step.policy
        break
      case 'touch':
        await h.schedules.patch(name, { priority: ++touches })
        model.settle()
        break
      case 'pause':
        await h.schedules.pause(
          name,
          step.forSeconds === null ? {} : { until: { in: { seconds: step.forSeconds } } },
        )
        model.settle()
        model.paused = true
        model.pauseEnds = step.forSeconds === null ? Number.POSITIVE_INFINITY : model.now + step.forSeconds
        break
      case 'resume':
        await h.schedules.resume(name)
        resume(model)
        break
      case 'skip':
      case 'unskip': {
        const { period } = model.policy
        const at = (Math.floor(model.now / period) + 1 + step.ahead) * period
        await h.schedules[step.do](name, ANCHOR + at * 1000)
        if (model.paused && model.pauseEnds <= model.now) endPause(model)
        if (step.do === 'skip') model.requests.add(at)
        else model.requests.delete(at)
        break
      }
    }
  }
  return model
}

/** A schedule whose pause is over has nothing to be resumed from, and what is due is left to the next tick. */
function resume(model: Model): void {
  if (!model.paused) return
  if (model.pauseEnds <= model.now) endPause(model)
  else model.settle()
  model.paused = false
}

/** Any verb ends a pause that is over, at its own time; what follows is left to the next tick. */
function endPause(model: Model): void {
  for (const at of model.planTimesUntil(model.pauseEnds)) model.ledger.set(at, 'paused')
  model.decided = Math.max(model.decided, model.pauseEnds)
  model.paused = false
}

it(`keeps to the model in ${RUNS} random histories`, { timeout: 7_200_000 }, async () => {
  const h = await openHarness({ at: '2026-03-01T00:00:00Z' })
  h.job('noop', { handler: () => {} })
  let histories = 0
  await fc.assert(
    fc.asyncProperty(policy, fc.array(step, { minLength: 3, maxLength: 14 }), async (first, steps) => {
      const name = `history-${++histories}`
      const began = h.now()
      const model = await play(h, name, first, steps)
      await h.schedules.resume(name)
      resume(model)
      await h.advance({ seconds: 0 })
      model.tick()
      const ledger = await h.schedules.occurrences(name, { from: began, to: h.now().getTime() + 1 })
      const found = ledger.map(({ planTime, disposition, reason }) => [
        (planTime.getTime() - ANCHOR) / 1000 - model.created,
        reason ?? disposition,
      ])
      const expected = [...model.ledger]
        .sort(([a], [b]) => a - b)
        .map(([at, what]) => [at - model.created, what])
      expect(found).toEqual(expected)
      expect(await h.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
      await h.schedules.delete(name, { runs: 'delete' })
    }),
    { numRuns: RUNS, ...SEED },
  )
})
