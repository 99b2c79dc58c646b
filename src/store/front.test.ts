import { beforeEach, describe, expect, it } from 'vitest'
import { createFront, createLitter, newestOf } from './front.js'

let nowMs: number
beforeEach(() => {
  nowMs = 1_000
})
const open = () => createFront(createLitter({ nowMs: () => nowMs }))

/** One look as a loop makes it. */
function look(
  front: ReturnType<typeof open>,
  { ms, newest = 50_000, count = 1 }: { ms: number; newest?: number | null; count?: number },
) {
  const since = front.since()
  nowMs += ms
  front.looked({ since, ms, count, newest })
  return since
}

describe('a front', () => {
  it('is at the beginning while looks take little, or are slow by chance', () => {
    const front = open()
    for (const ms of [1, 300, 300, 2, 300]) expect(look(front, { ms })).toBe(null)
    expect(front.since()).toBe(null)
  })

  it('is what was taken last, and a little before it, where looks from the beginning stay slow', () => {
    const front = open()
    for (const ms of [100, 100, 100]) look(front, { ms })
    expect(front.since()).toBe(49_000)
    expect(front.msUntilWhole()).toBe(4_900)
    look(front, { ms: 3, newest: 60_000 })
    expect(front.since()).toBe(59_000)
    look(front, { ms: 3, newest: null })
    look(front, { ms: 3, newest: 55_000 })
    expect(front.since()).toBe(59_000)
  })

  it('is at the beginning again for a fiftieth of the time, and for good when that takes little', () => {
    const front = open()
    for (const ms of [100, 100, 100]) look(front, { ms })
    nowMs += 4_899
    expect(front.since()).not.toBe(null)
    nowMs += 1
    expect(look(front, { ms: 200 })).toBe(null)
    expect(front.msUntilWhole()).toBe(9_800)
    nowMs += 9_800
    expect(look(front, { ms: 2 })).toBe(null)
    expect([front.since(), front.msUntilWhole()]).toEqual([null, 0])
  })

  it('is what was taken last after one very slow look, for five seconds: the machine may have stood still', () => {
    const front = open()
    look(front, { ms: 600 })
    expect([front.since(), front.msUntilWhole()]).toEqual([49_000, 5_000])
    nowMs += 5_000
    look(front, { ms: 600 })
    expect([front.since(), front.msUntilWhole()]).toEqual([49_000, 29_400])
  })

  it('is at the beginning every ten minutes, however long that takes', () => {
    const front = open()
    for (const ms of [14_000, 14_000]) {
      nowMs += 600_000
      look(front, { ms })
    }
    expect(front.msUntilWhole()).toBe(600_000)
  })

  it('is at the beginning as seldom as it is told to be', () => {
    const front = createFront(createLitter({ rest: 199, nowMs: () => nowMs }))
    for (const ms of [100, 100, 100]) look(front, { ms })
    expect(front.msUntilWhole()).toBe(19_900)
  })

  it('is at the beginning again where looks from further on take as long: the server is far away', () => {
    const front = open()
    for (const ms of [100, 100, 100]) look(front, { ms })
    expect(look(front, { ms: 95 })).not.toBe(null)
    nowMs += 4_900
    for (const ms of [100, 100, 100, 100]) expect(look(front, { ms })).toBe(null)
    for (const ms of [300, 300, 300]) look(front, { ms })
    expect(front.since()).not.toBe(null)
  })

  it('stays at the beginning where nothing was taken yet, or much was', () => {
    const front = open()
    for (const ms of [100, 100, 100]) look(front, { ms, newest: null })
    expect(front.since()).toBe(null)
    const busy = open()
    for (const ms of [100, 100, 100]) look(busy, { ms, count: 5_000 })
    expect(busy.since()).toBe(null)
  })
})

it('the newest of many is found, and of none there is none', () => {
  expect(newestOf([])).toBe(null)
  expect(newestOf(Array.from({ length: 300_000 }, (_, index) => new Date(index)))).toBe(299_999)
})
