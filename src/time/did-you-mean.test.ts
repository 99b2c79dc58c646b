import { expect, test } from 'vitest'
import { didYouMean } from './did-you-mean.js'

test.each([
  ['zoen', ' (did you mean "zone"?)'],
  ['Zone', ' (did you mean "zone"?)'],
  ['zzone', ' (did you mean "zone"?)'],
  ['ancor', ' (did you mean "anchor"?)'],
  ['colour', ''],
  ['', ''],
])('%j', (given, hint) => {
  expect(didYouMean(given, ['zone', 'anchor', 'every'])).toBe(hint)
})
