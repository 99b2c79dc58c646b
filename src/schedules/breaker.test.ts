import { expect, it } from 'vitest'
import { countFailures } from './breaker.js'

const breaker = { failures: 3, cooldown: null }
const outcomes = (text: string) => [...text].map((mark, planTime) => ({ planTime, failed: mark === 'x' }))

it.each([
  ['', 2, 2, false],
  ['x', 2, 3, true],
  ['x', 0, 1, false],
  ['.', 2, 0, false],
  ['xx.xx', 0, 2, false],
  ['xxx..', 0, 3, true],
])('counts %j after %i in a row as %i', (text, before, failures, isBroken) => {
  expect(countFailures(breaker, before, outcomes(text))).toEqual({ failures, isBroken })
})

it('goes by plan time, not by which ended first', () => {
  expect(countFailures(breaker, 2, outcomes('.x').reverse())).toEqual({ failures: 1, isBroken: false })
})
