import { expect, it } from 'vitest'
import { summed, totalsWords } from './totals.ts'

it('adds what runs counted, each name for itself', () => {
  const sum = summed([{ rows: 2, errors: 1 }, null, { rows: 5 }])
  expect(sum).toEqual({ rows: 7, errors: 1 })
  expect(totalsWords(sum)).toBe('rows 7, errors 1')
  expect(totalsWords(null)).toBe('')
})
