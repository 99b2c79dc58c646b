import { expect, it } from 'vitest'
import { newUuid, newUuids } from './uuid.js'

const AT = Date.parse('2026-03-01T00:00:00Z')
const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

it('begins with the instant, in milliseconds', () => {
  const id = newUuid(AT)
  expect(id).toMatch(V7)
  expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(AT)
})

it('gives many at one instant in their order, and no two alike', () => {
  const ids = newUuids(AT, 10_000)
  expect(ids.filter((id) => !V7.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(10_000)
  expect([...ids].sort()).toEqual(ids)
  expect(ids[0]!.slice(0, 13)).toBe(newUuid(AT).slice(0, 13))
})

it('goes on with the next millisecond where there are more than it can count', () => {
  const ids = newUuids(AT, 2 ** 18 + 2)
  expect(ids.slice(-3).map((id) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16) - AT)).toEqual([
    0, 1, 1,
  ])
  expect(ids.at(-1)! > ids.at(-2)!).toBe(true)
})

it('gives others each time', () => {
  const both = [...newUuids(AT, 100), ...newUuids(AT, 100)]
  expect(new Set(both).size).toBe(200)
})
