import { expect, it } from 'vitest'
import { parameterText } from './parameters.js'

it.each([
  [null, null],
  [true, 'true'],
  [0, '0'],
  [-0.5, '-0.5'],
  ['', ''],
  ['it is "text"', 'it is "text"'],
  [new Date('2024-07-01T12:00:00.123Z'), '2024-07-01T12:00:00.123Z'],
  [[], '{}'],
  [[1, -0.5, null, true], '{1,-0.5,NULL,"true"}'],
  [[null, null, 'b', 'b', 1, 1, '1', null], '{NULL,NULL,"b","b",1,1,1,NULL}'],
  [
    ['c0ffee00-0000-4000-8000-000000000000', 'c0ffee00-{'],
    '{c0ffee00-0000-4000-8000-000000000000,"c0ffee00-{"}',
  ],
  [['NULL', '', 'a,b', '{c}', '"', '\\'], '{"NULL","","a,b","{c}","\\"","\\\\"}'],
])('%j is sent as %j', (param, text) => {
  expect(parameterText(param)).toBe(text)
})

it('refuses a date that is none', () => {
  expect(() => parameterText(new Date(Number.NaN))).toThrow(RangeError)
})
