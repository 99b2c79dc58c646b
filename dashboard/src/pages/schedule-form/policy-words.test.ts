import { expect, it } from 'vitest'
import { POLICY_DEFAULTS } from '../../../../src/schedules/policies.js'
import { newForm } from './form-state.ts'
import { CATCH_UP, OVERLAP, policySummary } from './policy-words.ts'
import { readForm } from './reading.ts'

const summary = (change: object) => {
  const form = { ...newForm('UTC'), ...change }
  return policySummary(form, readForm(form))
}

it('says what differs from the defaults', () => {
  expect(summary({})).toBe('All as by default.')
  expect(summary({ startAt: '2027-01-01T00:00', endAt: '2028-01-01T00:00', limit: '7' })).toBe(
    'Begins later. Has an end. At most 7 plan times.',
  )
  expect(summary({ overlap: 'queue', jitter: '30s', deleteWhenDone: true })).toBe(
    'One waits while an earlier run is open. Runs are spread over 30 seconds. Deleted when no plan time is left.',
  )
})

it('names the default first', () => {
  expect([OVERLAP[0][0], CATCH_UP[0][0]]).toEqual([POLICY_DEFAULTS.overlap, POLICY_DEFAULTS.catchUp])
})
