import { describe, expect, it } from 'vitest'
import { changedValues } from './changed-values.ts'

const content = {
  job: 'send',
  input: { customer: 'acme', lines: [1, 2] },
  timing: { kind: 'cron', expression: '0 9 * * *', zone: 'UTC' },
  policies: { grace: '1 minute', breaker: null },
  group: null,
}

describe('what a change changed', () => {
  it('is told by field, as deep down as objects go', () => {
    const after = {
      ...content,
      input: { customer: 'beta', lines: [1, 3], note: 'new' },
      timing: { ...content.timing, zone: 'Asia/Tokyo' },
      group: 'mail',
    }
    expect(changedValues(content, after)).toEqual([
      { field: 'input.customer', before: 'acme', after: 'beta' },
      { field: 'input.lines', before: [1, 2], after: [1, 3] },
      { field: 'input.note', before: undefined, after: 'new' },
      { field: 'timing.zone', before: 'UTC', after: 'Asia/Tokyo' },
      { field: 'group', before: null, after: 'mail' },
    ])
  })

  it('names policies by their own names', () => {
    const after = { ...content, policies: { grace: '5 minutes', breaker: { failures: 3, cooldown: null } } }
    expect(changedValues(content, after).map(({ field }) => field)).toEqual(['grace', 'breaker'])
  })

  it('is nothing where the content is the same, or where there was none', () => {
    expect(changedValues(content, structuredClone(content))).toEqual([])
    expect(changedValues(null, content)).toEqual([])
    expect(changedValues(content, null)).toEqual([])
  })
})
