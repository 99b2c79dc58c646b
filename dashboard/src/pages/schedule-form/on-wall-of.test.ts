import { expect, it } from 'vitest'
import { onWallOf } from './on-wall-of.ts'

it.each([
  ['2026-12-01T09:00', 'Europe/Paris', '2026-12-01T09:00'],
  ['2026-12-01T09:00:00', 'Europe/Paris', '2026-12-01T09:00'],
  ['2026-12-01T09:00:30', 'Europe/Paris', '2026-12-01T09:00:30'],
  ['2026-12-01T09:00:00.000Z', 'Europe/Paris', '2026-12-01T10:00'],
  ['2026-07-01T09:00:00.500Z', 'Asia/Kolkata', '2026-07-01T14:30:00.500'],
  ['2026-07-01T09:00:00+02:00', 'UTC', '2026-07-01T07:00'],
  ['', 'UTC', ''],
])('%s is on the wall of %s: %s', (value, zone, wall) => {
  expect(onWallOf(value, zone)).toBe(wall)
})
