import { expect, it } from 'vitest'
import { readJson } from './json-field.ts'

it('takes JSON, takes nothing for nothing, and says what is wrong with the rest', () => {
  expect(readJson(' \n')).toEqual({})
  expect(readJson('null')).toEqual({ value: null })
  expect(readJson('{"a":1}')).toEqual({ value: { a: 1 } })
  expect(readJson('{a:1}').mistake).toMatch(/^Is no JSON: ./)
})
