import { expect, it } from 'vitest'
import { isRange, kindOf, type RecentOccurrence, recentInWords, wordOf } from './recent-words.ts'

const at = (minute: number) => `2026-03-01T12:0${minute}:00.000Z`

function ran(runState: RecentOccurrence['runState']): RecentOccurrence {
  const planTime = at(0)
  return {
    firstPlanTime: planTime,
    planTime,
    scope: 'global',
    disposition: 'run',
    runId: 'r',
    runState,
    reason: null,
  }
}

function skipped(reason: RecentOccurrence['reason'], through = 0): RecentOccurrence {
  const times = { firstPlanTime: at(0), planTime: at(through) }
  return { ...times, scope: 'global', disposition: 'skipped', runId: null, runState: null, reason }
}

it('tells what became of the last ones, the common first, and counts no range', () => {
  const recent = [skipped('missed', 3), ran('succeeded'), ran('succeeded'), ran('failed'), ran('running')]
  expect(recentInWords(recent)).toBe('Last 5: 2 succeeded, 1 failed, 1 running, several missed')
  expect(recentInWords([skipped('missed', 3), skipped('missed')])).toBe('Last 2: several missed')
  expect(recentInWords([ran('skipped'), skipped('gate')])).toBe('Last 2: 2 kept back by a gate')
})

it('draws runs by how they ended, and all skips alike', () => {
  expect(
    [ran('succeeded'), ran('failed'), ran('retrying'), ran('pending'), ran('cancelled')].map(kindOf),
  ).toEqual(['good', 'bad', 'open', 'open', 'cancelled'])
  expect([ran('skipped'), skipped('overlap'), skipped('paused', 2)].map(kindOf)).toEqual(
    Array(3).fill('skipped'),
  )
  expect([wordOf(skipped('operator')), isRange(skipped('paused', 2)), isRange(skipped('paused'))]).toEqual([
    'skipped by an operator',
    true,
    false,
  ])
})
