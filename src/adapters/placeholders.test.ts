import { expect, it } from 'vitest'
import { splitAtPlaceholders } from './placeholders.js'

it('gives the values in the order of the text, also where one is used twice', () => {
  expect(splitAtPlaceholders('select $2::text, $1, $2', ['a', null])).toEqual({
    texts: ['select ', '::text, ', ', ', ''],
    values: [null, 'a', null],
  })
})

it('leaves names and literals alone', () => {
  const text = `select '$1 it''s' from "odd ""$1" where a = `
  expect(splitAtPlaceholders(`${text}$1`, ['a'])).toEqual({ texts: [text, ''], values: ['a'] })
})
