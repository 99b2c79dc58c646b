import fc from 'fast-check'
import { expect, it } from 'vitest'
import { jsonMistake } from './json-mistake.ts'

it.each([
  [
    '',
    'line 1, column 1: expected a value: a text in double quotes, a number, true, false, null, [ or {; the text ends here',
  ],
  ['{\n  "a": 1,\n  b: 2\n}', 'line 3, column 3: expected a name in double quotes; found "b"'],
  ['{"a" 1}', 'line 1, column 6: expected ":"; found "1"'],
  ['[1, 2', 'line 1, column 6: expected "," or "]"; the text ends here'],
  ['{"a": 1}}', 'line 1, column 9: expected nothing more; found "}"'],
  ['"a\nb"', 'line 1, column 3: expected the end of the text, \'"\'; found "\\n"'],
  ["{'a': 1}", 'line 1, column 2: expected a name in double quotes; found "\'"'],
])('%s is not JSON, and it says where', (text, mistake) => {
  expect(jsonMistake(text)).toBe(mistake)
})

it('takes what JSON.parse takes, and nothing else', () => {
  const isJson = (text: string) => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }
  const damaged = fc
    .tuple(
      fc.json(),
      fc.nat(),
      fc.constantFrom('', '"', '{', '}', '[', ',', ':', '\\', '\\u12', '-', '0', '.', 'e', '\n', 'x'),
    )
    .map(([text, at, put]) => {
      const index = at % (text.length + 1)
      return text.slice(0, index) + put + text.slice(index + (at % 2))
    })
  fc.assert(
    fc.property(damaged, (text) => (jsonMistake(text) === undefined) === isJson(text)),
    { numRuns: 300 },
  )
})
