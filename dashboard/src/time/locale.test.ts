import { expect, it } from 'vitest'
import { usableLocale } from './locale.ts'

it.each([
  ['de-AT', 'de-AT'],
  ['en-US@posix', 'en-US'],
  ['en_US.UTF-8', 'en-GB'],
  ['tlh', 'en-GB'],
  ['', 'en-GB'],
  [undefined, 'en-GB'],
])('%j is read as %s', (given, locale) => {
  expect(usableLocale(given)).toBe(locale)
})
