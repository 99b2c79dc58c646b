import { describe, expect, it } from 'vitest'
import { describeDefaults, describePolicies } from './describe-policies.js'
import { type PolicyFields, readPolicies } from './policies.js'

const words = (fields: PolicyFields, kind = 'cron') =>
  describePolicies(
    readPolicies(fields, kind, (field, message) => expect.fail(`${field}: ${message}`)),
    kind,
  )

describe('policies in words', () => {
  it('say nothing of what is as it is by default', () => {
    expect(words({})).toEqual([])
    expect(words({ grace: '60s', overlap: 'allow', delay: '0s' })).toEqual([])
    expect(words({ overlap: 'skip' }, 'after')).toEqual([])
  })

  it.each<[PolicyFields, string]>([
    [{ catchUp: 'none' }, 'Of plan times that were missed none runs'],
    [
      { catchUp: 'all', catchUpLimit: 5 },
      'Each plan time that was missed runs, if it is less than 1 day late, at most 5 per tick',
    ],
    [
      { catchUpWindow: '2h' },
      'Of plan times that were missed the newest runs, if it is less than 2 hours late',
    ],
    [{ grace: '5m' }, 'On time is what is less than 5 minutes late'],
    [{ overlap: 'skip' }, 'Skipped while an earlier run is open'],
    [{ overlap: 'queue' }, 'One waits while an earlier run is open'],
    [{ overlap: 'replace' }, 'Cancels an earlier run that is still open'],
    [{ delay: '1h' }, 'Runs 1 hour after the plan time'],
    [{ jitter: '90s' }, 'Runs are spread over 1 minute 30 seconds'],
    [{ breaker: { failures: 1 } }, 'Taken out after a failure'],
    [
      { breaker: { failures: 5, cooldown: '1h' } },
      'Taken out after 5 failures in a row, and tried again after 1 hour',
    ],
    [{ deleteWhenDone: true }, 'Deleted when no plan time is left'],
  ])('%j', (fields, sentence) => {
    expect(words(fields)).toEqual([sentence])
  })

  it('say what the rest comes to, to whoever asks for that too', () => {
    const rest = (fields: PolicyFields, kind = 'cron') =>
      describeDefaults(
        readPolicies(fields, kind, (field, message) => expect.fail(`${field}: ${message}`)),
        kind,
      )
    expect(rest({})).toEqual([
      'Of plan times that were missed the newest runs',
      'Runs while an earlier run is open, too',
      'On time is what is less than 1 minute late',
      'Goes on whatever fails',
    ])
    expect(rest({ catchUp: 'none', overlap: 'skip', grace: '5m', breaker: { failures: 1 } })).toEqual([])
    expect(rest({ overlap: 'skip' }, 'after')).not.toContain('Runs while an earlier run is open, too')
  })
})
