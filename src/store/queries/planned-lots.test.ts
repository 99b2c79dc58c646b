import { describe, expect, it } from 'vitest'
import { defineJob } from '../../runs/job.js'
import { lotsOf, type PlacesOffered } from './planned-lots.js'

const noop = defineJob('noop', { handler: () => {} })

interface About {
  runs?: number
  job?: string
  queue?: string
  priority?: number
  overlap?: string
  input?: string | null
  heldBackMs?: number
}

let made = 0
const planned = (...schedules: About[]) =>
  schedules.map(
    ({
      runs = 1,
      job = 'noop',
      queue = 'default',
      priority = 0,
      overlap = 'allow',
      input = '1',
      heldBackMs = 0,
    }) => ({
      schedule: { job, queue, priority, input, policies: { overlap } },
      plan: {
        decidedThrough: 1_000,
        runs: Array.from({ length: runs }, () => {
          made += 1
          return {
            id: String(made).padStart(8, '0'),
            scope: 'global',
            planTime: 1_000,
            eligibleAt: 1_000 + heldBackMs,
          }
        }),
      },
    }),
  ) as unknown as Parameters<typeof lotsOf>[0]

const offer = (places: number, queues = ['default']): PlacesOffered => ({
  workerId: 'w',
  leaseToken: 't',
  places,
  queues,
  job: (name) => (name === 'noop' ? noop : undefined),
})

/** Of each run whether it begins, waits in a lot, or waits alone. */
function becoming(offered: PlacesOffered | null, ...schedules: About[]): string {
  const { lots, leased } = lotsOf(planned(...schedules), offered)
  return lots.map((lot) => (lot === null ? '-' : lot <= leased.length ? 'B' : 'w')).join('')
}

describe('runs that are planned together', () => {
  it('wait in lots where they are alike, of a hundred at most', () => {
    expect(lotsOf(planned({ runs: 250 }, { priority: 1 }), null)).toEqual({
      lots: [...Array(100).fill(1), ...Array(100).fill(2), ...Array(50).fill(3), null],
      leased: [],
    })
  })

  it('begin where there are places for them, also alone', () => {
    expect(becoming(offer(1), {})).toBe('B')
    expect(becoming(offer(5), { runs: 2 }, { priority: 1 })).toBe('BBB')
    expect(lotsOf(planned({ runs: 150 }), offer(150))).toMatchObject({ leased: [noop, noop] })
  })

  it('take as many places as there are, and the others wait', () => {
    expect(becoming(offer(3), { runs: 5 })).toBe('BBBww')
    expect(becoming(offer(4), { runs: 5 })).toBe('BBBB-')
    expect(becoming(offer(0), { runs: 2 })).toBe('ww')
  })

  it('take them by priority', () => {
    expect(becoming(offer(2), { runs: 2 }, { runs: 1, priority: 5 }, { priority: -1 })).toBe('B-B-')
  })

  it('take no more than the share of their queue', () => {
    const two = offer(4, ['default', 'other'])
    expect(becoming(two, { runs: 4 }, { queue: 'other', runs: 1 })).toBe('BBwwB')
    expect(becoming(two, { queue: 'third', runs: 2 })).toBe('ww')
  })

  it.each<[string, About]>([
    ['whose job is not here', { job: 'another' }],
    ['whose input was not read', { input: null }],
    ['that may not overlap', { overlap: 'skip' }],
    ['that are held back', { heldBackMs: 1 }],
  ])('take none %s', (_, about) => {
    expect(becoming(offer(9), about)).toBe('-')
  })
})
