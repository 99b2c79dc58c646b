import { expect, it } from 'vitest'
import { explain } from './explain.ts'
import { briefOf, kindOf, type Occurrence } from './kinds.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const policies = { catchUp: 'latest', catchUpWindow: '1 day', overlap: 'skip' } as const

const occurrence = (fields: Partial<Occurrence>): Occurrence => ({
  planTime: NOW.toISOString(),
  scope: 'global',
  disposition: 'upcoming',
  runId: null,
  runState: null,
  reason: null,
  note: null,
  ...fields,
})
const ran = (runState: Occurrence['runState']) => occurrence({ disposition: 'run', runState })
const skipped = (reason: Occurrence['reason']) => occurrence({ disposition: 'skipped', reason })
const LATER = '2026-03-01T13:00:00.000Z'

it.each([
  [ran('succeeded'), undefined, 'It ran, and succeeded.'],
  [ran('failed'), 'failed', 'It ran, and failed: its attempts are used up.'],
  [ran('running'), 'running', 'It is running.'],
  [ran('pending'), 'pending', 'Its run waits to be begun.'],
  [ran('retrying'), 'retrying', 'An attempt failed; its run waits for the next one.'],
  [ran('cancelled'), 'cancelled', 'Its run was cancelled.'],
  [ran('skipped'), 'gate', 'Skipped: the gate of its job was closed.'],
  [
    skipped('missed'),
    'missed',
    'Missed: no scheduler was running in time, and catch-up is “latest”: of those that have passed only the newest runs.',
  ],
  [
    skipped('expired'),
    'expired',
    'Missed: a scheduler came to it more than 1 day after its time, which is the window of catch-up.',
  ],
  [skipped('paused'), 'paused', 'Skipped: the schedule was paused.'],
  [
    skipped('broken'),
    'broken',
    'Skipped: the schedule was broken; its breaker had taken it out after failures.',
  ],
  [skipped('overlap'), 'overlap', 'Skipped: an earlier run was still open, and overlap is “skip”.'],
  [skipped('operator'), 'operator', 'Skipped: an operator wished it so.'],
  [skipped('gate'), 'gate', 'Skipped: the gate of its job was closed.'],
  [skipped('no_scope'), 'no scope', 'Skipped: its job gave no scope to run it for.'],
  [occurrence({}), 'due', 'Due: its time has come, and no scheduler has decided it yet.'],
  [occurrence({ planTime: LATER }), undefined, 'It is to run.'],
  [
    occurrence({ planTime: LATER, reason: 'operator' }),
    'operator',
    'To be skipped: an operator wishes it so.',
  ],
  [
    occurrence({ planTime: LATER, reason: 'paused' }),
    'paused',
    'To be skipped: the schedule is paused, and runs nothing until it is resumed.',
  ],
])('says what became of it, briefly and in a sentence: %#', (given, brief, sentence) => {
  const kind = kindOf(given, NOW)
  expect(briefOf(given, kind)).toBe(brief)
  expect(explain(given, kind, policies)).toBe(sentence)
})

it('says why nothing late runs, by the policy', () => {
  const missed = (catchUp: 'none' | 'all') => explain(skipped('missed'), 'missed', { ...policies, catchUp })
  expect(missed('none')).toMatch(/catch-up is “none”: what has passed is left\.$/)
  expect(missed('all')).toMatch(/it was not caught up with\.$/)
})
