import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isStorable, isStorableJson, storableJson, storableText } from './storable.js'

it('replaces what PostgreSQL cannot store, in keys too, and keeps the rest', () => {
  expect(storableText('a\0b\ud800c')).toBe('a\uFFFDb\uFFFDc')
  expect(JSON.parse(storableJson({ 'k\0': ['\udc00', '\\u0000', '😀', 1, null] }))).toEqual({
    'k\uFFFD': ['\uFFFD', '\\u0000', '😀', 1, null],
  })
  expect(storableJson(undefined)).toBe('null')
})

it('makes any value storable, and leaves storable ones alone', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const json = storableJson(value)
      expect(isStorableJson(json)).toBe(true)
      const original = JSON.stringify(value)
      if (isStorableJson(original)) expect(json).toBe(original)
    }),
  )
})

it('finds offenders in JSON exactly where the strings have them', () => {
  const piece = fc.constantFrom('\\', 'u0000', '\0', '\ud83d', '\ude00', 'd800', '"', 'x')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = pieces.join('')
      expect(isStorableJson(JSON.stringify(text))).toBe(isStorable(text))
    }),
  )
})
