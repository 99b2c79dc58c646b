import { expect, it } from 'vitest'
import { commandOf } from './command.ts'

it('writes a command that a shell takes as it was meant', () => {
  expect(commandOf('get', ['report:acme'])).toBe('escapement schedules get report:acme')
  expect(commandOf('rename', ['a', `it's "b"`])).toBe(`escapement schedules rename a 'it'\\''s "b"'`)
  expect(commandOf('pause', ['a'], { reason: undefined, until: '1 hour' })).toBe(
    `escapement schedules pause a --until '1 hour'`,
  )
})
