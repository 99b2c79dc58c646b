import { expect, it } from 'vitest'
import { fromWall, onWall } from './wall.ts'

it('gives back the instant, to the minute', () => {
  expect(fromWall(onWall('2026-03-01T12:34:56.789Z'))).toBe('2026-03-01T12:34:00.000Z')
  expect(onWall(fromWall('2026-07-01T09:05'))).toBe('2026-07-01T09:05')
})

it('is empty for what is no time', () => {
  expect(fromWall('')).toBe('')
  expect(onWall(undefined)).toBe('')
})
