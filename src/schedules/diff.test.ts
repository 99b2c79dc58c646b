import { describe, expect, it } from 'vitest'
import { cron, every, type Timing } from '../time/timing.js'
import { diffContents, diffPlanTimes } from './diff.js'
import { parseSchedule } from './schedule.js'

const all = { shown: 9, asked: 9 }
const NOW = Date.parse('2026-03-01T12:15:00Z') // a Sunday

async function diff(before: Timing, after: Timing, count: number) {
  const content = (timing: Timing) => parseSchedule('s', { job: 'noop', timing })
  const short = (iso: string) => iso.slice(8, 16)
  const found = await diffContents(content(before), content(after), { now: NOW, count, createdAt: NOW })
  return {
    removed: found.removed.map(short),
    moved: found.moved.map(({ from, to }) => `${short(from)} ${short(to)}`),
    added: found.added.map(short),
    kept: found.kept.map(short),
  }
}

describe('diff', () => {
  it('an hour later every day moves each plan time, the last one too', async () => {
    expect(await diff(cron('0 9 * * *'), cron('0 10 * * *'), 3)).toEqual({
      removed: [],
      moved: ['02T09:00 02T10:00', '03T09:00 03T10:00', '04T09:00 04T10:00'],
      added: [],
      kept: [],
    })
  })

  it('an hour earlier moves each plan time, the last one too', async () => {
    expect(await diff(cron('0 10 * * *'), cron('0 9 * * *'), 2)).toEqual({
      removed: [],
      moved: ['02T10:00 02T09:00', '03T10:00 03T09:00'],
      added: [],
      kept: [],
    })
  })

  it('two a day keep their order', async () => {
    const [before, after] = [cron('0 1,2 * * *'), cron('0 10,11 * * *')]
    const moved = ['02T01:00 02T10:00', '02T02:00 02T11:00', '03T01:00 03T10:00']
    for (const count of [1, 2, 3])
      expect((await diff(before, after, count)).moved).toEqual(moved.slice(0, count))
  })

  it('later and only on weekdays moves the weekdays and removes the weekend', async () => {
    expect(await diff(cron('0 9 * * *'), cron('0 10 * * MON-FRI'), 8)).toEqual({
      removed: ['07T09:00', '08T09:00'],
      moved: ['02', '03', '04', '05', '06', '09'].map((day) => `${day}T09:00 ${day}T10:00`),
      added: [],
      kept: [],
    })
  })

  it('another day of the week is a move', async () => {
    expect((await diff(cron('0 9 * * MON'), cron('0 9 * * TUE'), 1)).moved).toEqual(['02T09:00 03T09:00'])
  })

  it('half a period leaves none out: the first that comes is the first that goes', async () => {
    expect(await diff(cron('0 * * * *'), cron('30 * * * *'), 2)).toEqual({
      removed: [],
      moved: ['01T13:00 01T12:30', '01T14:00 01T13:30'],
      added: [],
      kept: [],
    })
  })

  it('of two at the same distance the later one is the move', async () => {
    expect(diffPlanTimes([50], [40, 60], all)).toMatchObject({ added: [40], moved: [{ from: 50, to: 60 }] })
    expect(diffPlanTimes([40, 60], [50], all)).toMatchObject({ removed: [60], moved: [{ from: 40, to: 50 }] })
  })

  it('what stays is no move, and a move does not reach over it', async () => {
    expect(await diff(cron('0 9 * * *'), cron('0 9,18 * * MON-FRI'), 3)).toEqual({
      removed: [],
      moved: [],
      added: ['02T18:00'],
      kept: ['02T09:00', '03T09:00'],
    })
    expect(diffPlanTimes([10, 20], [20, 30], all)).toEqual({
      removed: [10],
      moved: [],
      added: [30],
      kept: [20],
    })
  })

  it('more often adds, and pairs nothing that was merely not asked for', async () => {
    expect(await diff(cron('0 9 * * *'), cron('30 * * * *'), 3)).toEqual({
      removed: [],
      moved: [],
      added: ['01T12:30', '01T13:30', '01T14:30'],
      kept: [],
    })
  })

  it('no timing left in common ends where one of them ends', async () => {
    expect(diffPlanTimes([1, 2, 3], [], all)).toEqual({ removed: [1, 2, 3], moved: [], added: [], kept: [] })
    expect(diffPlanTimes([], [1, 2, 3, 4], { shown: 3, asked: 4 })).toEqual({
      removed: [],
      moved: [],
      added: [1, 2, 3],
      kept: [],
    })
  })

  it('pairs so that the whole moves by the least', async () => {
    expect(diffPlanTimes([0, 100], [99], all)).toMatchObject({ removed: [0], moved: [{ from: 100, to: 99 }] })
    expect(diffPlanTimes([50], [0, 49, 100], all)).toMatchObject({
      added: [0, 100],
      moved: [{ from: 50, to: 49 }],
    })
  })

  it('the same timing keeps all', async () => {
    expect(await diff(every('1 hour'), every('60 minutes'), 2)).toEqual({
      removed: [],
      moved: [],
      added: [],
      kept: ['01T13:00', '01T14:00'],
    })
  })
})
