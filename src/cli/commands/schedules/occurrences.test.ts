import { describe, expect, it } from 'vitest'
import { rangeOf } from './occurrences.js'

const now = Date.parse('2026-11-15T15:30:00Z')

describe('the range of a ledger', () => {
  const every = (text: string) => ({
    timing: { kind: 'every', every: text, anchor: '2001-01-01T00:00:00', zone: 'UTC' } as const,
  })
  const shown = (...args: Parameters<typeof rangeOf>) => {
    const { from, to } = rangeOf(...args)
    return [new Date(from).toISOString(), new Date(to).toISOString()]
  }

  it('is ten plan times on both sides of now, however far they are', () => {
    expect(shown(every('1 hour'), {}, now)).toEqual(['2026-11-15T06:00:00.000Z', '2026-11-16T01:00:00.001Z'])
    expect(shown(every('1 month'), {}, now)).toEqual(['2026-02-01T00:00:00.000Z', '2027-09-01T00:00:00.001Z'])
  })

  it('is filled up where one end is given, and a week where there is no grid', () => {
    expect(shown(every('1 hour'), { to: '2026-11-01' }, now)[0]).toBe('2026-10-31T14:00:00.000Z')
    expect(shown(every('1 hour'), { from: '2026-12-01' }, now)[1]).toBe('2026-12-01T10:00:00.001Z')
    const chain = { timing: { kind: 'after', interval: '6 hours' } as const }
    expect(shown(chain, {}, now)).toEqual(['2026-11-08T15:30:00.000Z', '2026-11-22T15:30:00.001Z'])
    const past = { timing: { kind: 'once', at: '2020-01-01T00:00:00.000Z', zone: 'UTC' } as const }
    expect(shown(past, {}, now)[1]).toBe('2026-11-15T15:30:00.002Z')
  })
})
