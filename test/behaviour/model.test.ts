/**
 * Random histories of verbs, ticks, outages, work and clock moves, against the reference model. After each history the
 * ledger must be the model's, plan time by plan time, and `audit` must find nothing. MODEL_RUNS lengthens it, MODEL_SEED
 * repeats one.
 */
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { assemble } from '../../src/escapement.js'
import { cron, every, once, rrule, type ScheduleDefinition } from '../../src/index.js'
import type { Harness } from '../../src/testing/harness.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { sharedDatabase } from '../support/database.js'
import { openHarness } from '../support/harness.js'
import { type Content, Model } from '../support/model.js'

const RUNS = Number(process.env.MODEL_RUNS ?? 30)
const SEED = process.env.MODEL_SEED === undefined ? {} : { seed: Number(process.env.MODEL_SEED) }
const ANCHOR = Date.parse('2001-01-01T00:00:00Z')

/** What is put: a `once` is given by how far ahead it is, since histories do not begin at one time. */
type Put = Omit<Content, 'rule'> & {
  rule: { kind: 'every' | 'cron' | 'rrule'; period: number } | { kind: 'once'; ahead: number }
}

type Step =
  | { do: 'advance' | 'jump'; seconds: number }
  | { do: 'tick' | 'work' | 'resume' | 'touch' | 'trigger' }
  | { do: 'put'; put: Put }
  | { do: 'pause'; forSeconds: number | null }
  | { do: 'skip' | 'unskip'; ahead: number }
  | { do: 'backfill'; back: number }

const put = fc.record<Put>({
  rule: fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('every'), period: fc.constantFrom(1, 7, 20, 60, 300) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('cron'), period: fc.constantFrom(1, 20, 30) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('rrule'), period: fc.constantFrom(7, 60, 90) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('once'), ahead: fc.integer({ min: 1, max: 300 }) }),
    },
  ) as fc.Arbitrary<Put['rule']>,
  limit: fc.oneof(
    { weight: 3, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 30 }) },
  ),
  catchUp: fc.constantFrom('latest', 'none', 'all'),
  window: fc.constantFrom(null, 10, 90, 600),
  grace: fc.constantFrom(1, 5, 60, 120),
  overlap: fc.constantFrom('allow', 'allow', 'skip', 'queue'),
  scopes: fc.constantFrom(['global'], ['global'], ['acme', 'zeta']),
})

const seconds = (max: number) => fc.integer({ min: 0, max })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('advance' as const), seconds: seconds(120) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('jump' as const), seconds: seconds(900) }) },
  { weight: 2, arbitrary: fc.constant<Step>({ do: 'tick' }) },
  { weight: 2, arbitrary: fc.constant<Step>({ do: 'work' }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('put' as const), put }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('pause' as const),
      forSeconds: fc.option(fc.integer({ min: 1, max: 400 })),
    }),
  },
  { weight: 3, arbitrary: fc.constantFrom<Step>({ do: 'resume' }, { do: 'touch' }, { do: 'trigger' }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('skip' as const, 'unskip' as const), ahead: seconds(5) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('backfill' as const), back: seconds(600) }) },
)

function contentOf({ rule, ...rest }: Put, now: number): Content {
  return { ...rest, rule: rule.kind === 'once' ? { kind: 'once', at: now + rule.ahead } : rule }
}

function timingOf({ rule }: Content) {
  switch (rule.kind) {
    case 'every':
      return every({ seconds: rule.period })
    case 'cron':
      return cron(`*/${rule.period} * * * * *`)
    case 'rrule':
      return rrule(`FREQ=SECONDLY;INTERVAL=${rule.period}`)
    case 'once':
      return once(ANCHOR + rule.at * 1000)
  }
}

function definitionOf(content: Content, priority: number): ScheduleDefinition {
  const { limit, catchUp, window, grace, overlap, scopes } = content
  return {
    job: 'noop',
    timing: timingOf(content),
    catchUp,
    catchUpLimit: 3,
    grace: { seconds: grace },
    overlap,
    scopes,
    priority,
    ...(limit !== null && { limit }),
    ...(window !== null && { catchUpWindow: { seconds: window } }),
  }
}

async function play(h: Harness, work: () => Promise<void>, name: string, first: Put, steps: readonly Step[]) {
  const now = () => (h.now().getTime() - ANCHOR) / 1000
  let touches = 0
  const model = new Model(now(), contentOf(first, now()))
  await h.schedules.put(name, definitionOf(model.content, touches))
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
      case 'work':
        await work()
        model.work()
        break
      case 'put': {
        const content = contentOf(step.put, model.now)
        await h.schedules.put(name, definitionOf(content, ++touches))
        model.put(content)
        break
      }
      case 'touch':
        await h.schedules.patch(name, { priority: ++touches })
        model.put(model.content)
        break
      case 'pause': {
        const until = step.forSeconds === null ? {} : { until: { in: { seconds: step.forSeconds } } }
        await h.schedules.pause(name, until)
        model.pause(step.forSeconds === null ? Number.POSITIVE_INFINITY : model.now + step.forSeconds)
        break
      }
      case 'resume':
        await h.schedules.resume(name)
        model.resume()
        break
      case 'trigger': {
        const triggered = h.schedules.trigger(name)
        if (model.trigger()) await triggered
        else await expect(triggered).rejects.toMatchObject({ code: 'run_open' })
        break
      }
      case 'backfill': {
        const from = Math.max(model.created - 1, model.now - step.back)
        await h.schedules.backfill(name, { from: ANCHOR + from * 1000, to: h.now().getTime() + 1000 })
        model.backfill(from)
        break
      }
      case 'skip':
      case 'unskip': {
        let at = model.next(model.now)
        for (let ahead = step.ahead; ahead > 0; ahead--) at = model.next(at)
        if (at === Number.POSITIVE_INFINITY) break
        await h.schedules[step.do](name, ANCHOR + at * 1000)
        model.request(step.do, at)
        break
      }
    }
  }
  return model
}

it(`keeps to the model in ${RUNS} random histories`, { timeout: 7_200_000 }, async () => {
  // One plans and does not have the job, so that runs stay open until the other is let to work.
  const h = await openHarness({ at: '2026-03-01T00:00:00Z' })
  const clock = createManualClock(h.now().getTime())
  const { escapement, worker } = await assemble({ database: await sharedDatabase(), schema: h.schema, clock })
  onTestFinished(() => escapement.close())
  escapement.job('noop', { handler: () => {} })
  const work = async () => {
    clock.set(h.now().getTime())
    await worker.drain()
  }
  await work()
  let histories = 0
  await fc.assert(
    fc.asyncProperty(put, fc.array(step, { minLength: 3, maxLength: 14 }), async (first, steps) => {
      const name = `history-${++histories}`
      const model = await play(h, work, name, first, steps)
      await h.schedules.resume(name)
      model.resume()
      await h.advance({ seconds: 0 })
      model.tick()
      const ledger = await h.schedules.occurrences(name, {
        from: ANCHOR + (model.created - 1) * 1000,
        to: h.now().getTime() + 1,
      })
      const found = ledger.map(({ planTime, scope, disposition, reason }) => ({
        at: (planTime.getTime() - ANCHOR) / 1000 - model.created,
        scope,
        what: reason ?? disposition,
      }))
      const expected = [...model.ledger.values()]
        .sort((a, b) => a.at - b.at || (a.scope < b.scope ? -1 : 1))
        .map(({ at, ...rest }) => ({ at: at - model.created, ...rest }))
      expect(found).toEqual(expected)
      expect((await h.schedules.get(name)).state).toBe(model.state)
      expect(await h.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
      await h.schedules.delete(name)
      expect(await h.escapement.audit()).toMatchObject({
        schedules: 1,
        missing: [],
        double: [],
        unexpected: [],
      })
      for (const table of ['runs_asked', 'runs_open', 'runs_ended', 'skips', 'changes']) {
        await h.escapement.database.query(`delete from "${h.schema}".${table}`)
      }
    }),
    { numRuns: RUNS, ...SEED },
  )
})
