import { describe, expect, it } from 'vitest'
import { parseInt8, parseTimestamptz } from './column-types.js'

describe('bigint', () => {
  it.each([
    ['0', 0],
    ['-1', -1],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['-9007199254740991', Number.MIN_SAFE_INTEGER],
  ])('%s is a number', (text, number) => {
    expect(parseInt8(text)).toBe(number)
  })

  it.each(['9007199254740992', '-9007199254740992', '9223372036854775807'])('%s is refused', (text) => {
    expect(() => parseInt8(text)).toThrow(`The bigint ${text} is beyond what a number holds exactly.`)
  })
})

describe('timestamptz', () => {
  it.each([
    ['2024-07-01 12:00:00+00', '2024-07-01T12:00:00.000Z'],
    ['2024-07-01 12:00:00.5+12:45', '2024-06-30T23:15:00.500Z'],
    ['2024-07-01 12:00:00.007-03:30', '2024-07-01T15:30:00.007Z'],
    ['2024-07-01 12:00:00.999999+00', '2024-07-01T12:00:00.999Z'],
    ['2024-12-31 23:59:59.99-00:30', '2025-01-01T00:29:59.990Z'],
    ['2024-07-01 12:00:00+00 BC', '-002023-07-01T12:00:00.000Z'],
    ['1800-01-01 00:09:21+00:09:21', '1800-01-01T00:00:00.000Z'],
    ['0099-03-01 00:00:00+00', '0099-03-01T00:00:00.000Z'],
    ['0001-12-31 00:00:00+00 BC', '0000-12-31T00:00:00.000Z'],
    ['0004-02-29 00:00:00+00', '0004-02-29T00:00:00.000Z'],
    ['12024-07-01 12:00:00+00', '+012024-07-01T12:00:00.000Z'],
  ])('%s is %s', (text, iso) => {
    expect((parseTimestamptz(text) as Date).toISOString()).toBe(iso)
  })

  it('knows the ends of time', () => {
    expect(parseTimestamptz('infinity')).toBe(Number.POSITIVE_INFINITY)
    expect(parseTimestamptz('-infinity')).toBe(Number.NEGATIVE_INFINITY)
  })

  it('refuses another style of dates instead of guessing', () => {
    expect(() => parseTimestamptz('01/07/2024 12:00:00 NZST')).toThrow('Keep DateStyle at ISO.')
  })
})
