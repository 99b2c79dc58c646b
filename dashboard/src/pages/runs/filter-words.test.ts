import { expect, it } from 'vitest'
import { isByEnd, queryOf, retriedInWords, retryCommand, retryFilterOf } from './filter-words.ts'

const times = { from: '2026-03-01T00:00:00.000Z', to: '2026-03-02T00:00:00.000Z' }

it('asks for several states at once', () => {
  expect(queryOf({ state: 'failed,cancelled', job: 'j' })).toEqual({
    state: ['failed', 'cancelled'],
    job: 'j',
  })
  expect(queryOf({})).toEqual({})
})

it('knows by which time runs are listed', () => {
  expect(isByEnd({ state: 'failed,cancelled' }, true)).toBe(true)
  expect(isByEnd({ state: 'failed' }, false)).toBe(false)
  expect(isByEnd({ state: 'failed', schedule: 's' }, true)).toBe(false)
  expect(isByEnd({ state: 'failed,running' }, true)).toBe(false)
  expect(isByEnd({}, true)).toBe(false)
})

it('retries what the list shows, by the time by which it is listed', () => {
  expect(retryFilterOf({ state: 'failed', job: 'j', ...times }, true)).toEqual({
    job: 'j',
    finishedAfter: times.from,
    finishedBefore: times.to,
  })
  const ofSchedule = retryFilterOf({ state: 'failed', schedule: 's', trigger: 'manual', to: times.to }, true)
  expect(ofSchedule).toEqual({ schedule: 's', trigger: 'manual', plannedBefore: times.to })
  expect(retryCommand(ofSchedule)).toBe(
    `escapement runs retry --failed --schedule 's' --trigger 'manual' --planned-before '${times.to}'`,
  )
  expect(retryCommand({})).toBe('escapement runs retry --failed')
})

it('says how many are tried again, and how many must wait', () => {
  expect(retriedInWords({ retried: 1, blocked: 0 })).toBe('1 run is tried again.')
  expect(retriedInWords({ retried: 0, blocked: 1 })).toBe(
    'No run is tried again; 1 must wait, as another run of its schedule is open.',
  )
  expect(retriedInWords({ retried: 12, blocked: 3 })).toMatch(
    /^12 runs are tried again; 3 must wait, .*their/,
  )
})
