import { describe, expect, it } from 'vitest'
import { compileTiming, every, once, type Timing } from '../time/timing.js'
import { firstPlanTime, type Plannable, planOccurrences, planSkipped } from './plan.js'
import { type PolicyFields, readPolicies } from './policies.js'

const at = (text: string) => Date.parse(`2026-03-01T${text}Z`)
const time = (instant: number | null) =>
  instant && new Date(instant).toISOString().slice(11, 23).replace('.000', '')
const never = () => expect.fail('a mistake was reported')

function schedule(
  timing: Timing,
  nextAt: string,
  policies: PolicyFields = {},
  more: Partial<Plannable> = {},
) {
  return {
    id: '018f0000-0000-7000-8000-000000000001',
    timing: compileTiming(timing),
    policies: readPolicies(policies, undefined, never),
    scopes: ['global'],
    nextAt: at(nextAt),
    until: null,
    ...more,
  }
}

function shown(plan: ReturnType<typeof planOccurrences>) {
  return {
    run: plan.runs.map(({ planTime }) => time(planTime)),
    skip: plan.skips.map(({ first, last, reason }) => [time(first), time(last), reason]),
    nextAt: time(plan.nextAt),
    decidedThrough: time(plan.decidedThrough),
  }
}

const minutely = every('1 minute')
const hourly = every('1 hour')

describe('planOccurrences', () => {
  it('decides nothing before the cursor is due', () => {
    expect(shown(planOccurrences(schedule(minutely, '10:01:00'), at('10:00:59.999')))).toEqual({
      run: [],
      skip: [],
      nextAt: '10:01:00',
      decidedThrough: '10:00:59.999',
    })
  })

  it('runs a plan time that equals now', () => {
    expect(shown(planOccurrences(schedule(minutely, '10:01:00'), at('10:01:00')))).toEqual({
      run: ['10:01:00'],
      skip: [],
      nextAt: '10:02:00',
      decidedThrough: '10:01:00',
    })
  })

  it('runs all that are less late than the grace, under every catch-up', () => {
    for (const catchUp of ['latest', 'none', 'all'] as const) {
      const plan = planOccurrences(schedule(every('20 seconds'), '10:00:20', { catchUp }), at('10:01:10'))
      expect(shown(plan)).toMatchObject({ run: ['10:00:20', '10:00:40', '10:01:00'], skip: [] })
    }
  })

  it('counts lateness from plan time + delay', () => {
    const delayed = schedule(minutely, '10:01:00', { catchUp: 'none', delay: '5 minutes' })
    expect(shown(planOccurrences(delayed, at('10:06:30'))).run).toHaveLength(6)
    expect(shown(planOccurrences(delayed, at('10:07:00'))).skip).toEqual([['10:01:00', '10:01:00', 'missed']])
  })

  it('latest: runs the newest of those that are late, and misses the others as one range', () => {
    expect(shown(planOccurrences(schedule(hourly, '01:00:00'), at('05:30:00')))).toEqual({
      run: ['05:00:00'],
      skip: [['01:00:00', '04:00:00', 'missed']],
      nextAt: '06:00:00',
      decidedThrough: '05:30:00',
    })
  })

  it('latest: misses all that are late when something on time runs', () => {
    expect(shown(planOccurrences(schedule(minutely, '10:01:00'), at('10:05:00')))).toMatchObject({
      run: ['10:05:00'],
      skip: [['10:01:00', '10:04:00', 'missed']],
    })
  })

  it('none: misses all that are late', () => {
    expect(
      shown(planOccurrences(schedule(hourly, '01:00:00', { catchUp: 'none' }), at('05:30:00'))),
    ).toMatchObject({
      run: [],
      skip: [['01:00:00', '05:00:00', 'missed']],
      nextAt: '06:00:00',
    })
  })

  it('all: runs each, oldest first, at most so many in a tick, and leaves the rest undecided', () => {
    const all = schedule(minutely, '10:01:00', { catchUp: 'all', catchUpLimit: 3 })
    expect(shown(planOccurrences(all, at('10:09:30')))).toEqual({
      run: ['10:01:00', '10:02:00', '10:03:00'],
      skip: [],
      nextAt: '10:04:00',
      decidedThrough: '10:03:00',
    })
    expect(shown(planOccurrences(all, at('10:09:30'), undefined, { budget: 5_000 })).run).toHaveLength(9)
  })

  it('makes no more runs than it may, but all of one plan time, and leaves the rest', () => {
    const scopes = ['a', 'b', 'c']
    const all = schedule(minutely, '10:01:00', { catchUp: 'all', grace: '3 minutes' }, { scopes })
    const limited = (mostRuns: number) => {
      const { runs, nextAt, decidedThrough } = planOccurrences(all, at('10:09:30'), undefined, { mostRuns })
      return [runs.length, shown({ runs: [], skips: [], nextAt, isDone: false, decidedThrough })]
    }
    expect(limited(7)).toEqual([
      6,
      expect.objectContaining({ nextAt: '10:03:00', decidedThrough: '10:02:00' }),
    ])
    expect(limited(24)).toEqual([
      24,
      expect.objectContaining({ nextAt: '10:09:00', decidedThrough: '10:08:00' }),
    ])
    expect(limited(1)).toEqual([
      3,
      expect.objectContaining({ nextAt: '10:02:00', decidedThrough: '10:01:00' }),
    ])
  })

  it('records plan times beyond the window as expired', () => {
    const all = schedule(hourly, '01:00:00', { catchUp: 'all', catchUpWindow: '2 hours' })
    expect(shown(planOccurrences(all, at('05:30:00')))).toMatchObject({
      run: ['04:00:00', '05:00:00'],
      skip: [['01:00:00', '03:00:00', 'expired']],
    })
    const latest = schedule(hourly, '01:00:00', { catchUpWindow: '10 minutes' })
    expect(shown(planOccurrences(latest, at('05:30:00')))).toMatchObject({
      run: [],
      skip: [['01:00:00', '05:00:00', 'expired']],
    })
  })

  it('skips what an operator asked to skip, and latest then takes the newest other one', () => {
    const requests = new Set([at('03:00:00'), at('05:00:00')])
    expect(shown(planOccurrences(schedule(hourly, '01:00:00'), at('05:30:00'), requests))).toMatchObject({
      run: ['04:00:00'],
      skip: [
        ['01:00:00', '02:00:00', 'missed'],
        ['03:00:00', '03:00:00', 'operator'],
        ['05:00:00', '05:00:00', 'operator'],
      ],
    })
  })

  it('takes no notice of a request that is no plan time any more', () => {
    const requests = new Set([at('03:30:00')])
    expect(shown(planOccurrences(schedule(hourly, '01:00:00'), at('05:30:00'), requests)).skip).toEqual([
      ['01:00:00', '04:00:00', 'missed'],
    ])
  })

  it('ends before its end, also when that has passed meanwhile', () => {
    const ending = schedule(minutely, '10:01:00', {}, { until: at('10:05:00') })
    expect(shown(planOccurrences(ending, at('10:30:00')))).toMatchObject({
      run: ['10:04:00'],
      skip: [['10:01:00', '10:03:00', 'missed']],
      nextAt: null,
    })
  })

  it('keeps the cursor’s plan time where the timing no longer has it', () => {
    expect(shown(planOccurrences(schedule(minutely, '10:00:30'), at('10:00:45'))).run).toEqual(['10:00:30'])
  })

  it('records a plan time for which no scope was given', () => {
    const plan = planOccurrences(schedule(minutely, '10:01:00', {}, { scopes: [] }), at('10:01:00'))
    expect(plan.runs).toEqual([])
    expect(plan.skips).toEqual([
      { scope: '', first: at('10:01:00'), last: at('10:01:00'), reason: 'no_scope' },
    ])
  })

  it('makes runs eligible at plan time + delay + jitter, spread by a hash and before the next plan time', () => {
    const scopes = Array.from({ length: 400 }, (_, index) => `tenant-${index}`)
    const spread = schedule(minutely, '10:01:00', { delay: '10 seconds', jitter: '1 hour' }, { scopes })
    const { runs } = planOccurrences(spread, at('10:01:00'))
    expect(planOccurrences(spread, at('10:01:30')).runs).toEqual(runs)
    const offsets = runs.map(({ eligibleAt }) => eligibleAt - at('10:01:10'))
    expect(Math.min(...offsets)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...offsets)).toBeLessThan(60_000)
    const quarters = [0, 1, 2, 3].map(
      (quarter) => offsets.filter((ms) => Math.floor(ms / 15_000) === quarter).length,
    )
    expect(Math.min(...quarters)).toBeGreaterThan(60)
  })
})

describe('planSkipped', () => {
  it('covers all plan times after one instant through another with one range', () => {
    const plan = planSkipped(schedule(hourly, '01:00:00'), {
      after: at('00:30:00'),
      through: at('04:00:00'),
      reason: 'paused',
    })
    expect(shown(plan)).toEqual({
      run: [],
      skip: [['01:00:00', '04:00:00', 'paused']],
      nextAt: '05:00:00',
      decidedThrough: '04:00:00',
    })
  })

  it('records nothing where there is no plan time', () => {
    const range = { after: at('01:00:00'), through: at('01:59:00'), reason: 'paused' as const }
    expect(planSkipped(schedule(hourly, '02:00:00'), range).skips).toEqual([])
  })
})

describe('firstPlanTime', () => {
  const now = at('10:00:30')

  it('is the first at or after startAt, and never before now', () => {
    const first = (startAt: string | null) =>
      firstPlanTime(
        { timing: compileTiming(minutely), until: null },
        { startAt: startAt === null ? null : at(startAt), now },
      )
    expect(first(null)).toBe(at('10:01:00'))
    expect(first('09:00:00')).toBe(at('10:01:00'))
    expect(first('11:00:00')).toBe(at('11:00:00'))
    expect(first('11:00:00.001')).toBe(at('11:01:00'))
  })

  it('is the instant of once, also when it has passed', () => {
    const timing = compileTiming(once('2026-03-01T08:00:00Z'))
    expect(firstPlanTime({ timing, until: null }, { startAt: null, now })).toBe(at('08:00:00'))
  })
})
