import { describe, expect, it } from 'vitest'
import { readOrThrow } from '../time/report.js'
import { type Filter, fillPage, type LookFrom, readToken, writeToken } from './paging.js'

const read = (token: string, list: string, filter: Filter) =>
  readOrThrow('option_invalid', (report) => readToken(token, { list, filter }, toPosition, report))
const toPosition = (texts: readonly string[]) => (texts.includes('nowhere') ? undefined : texts)
const write = (list: string, filter: Filter, position: readonly string[]) =>
  writeToken({ list, filter }, position)

describe('a page token', () => {
  const token = write('runs', { job: 'a', state: undefined }, ['17', 'ä"'])

  it('says where the list goes on, in whatever order the filter is given', () => {
    expect(read(token, 'runs', { job: 'a' })).toEqual(['17', 'ä"'])
    const two = write('runs', { job: 'a', queue: 'b' }, ['1'])
    expect(read(two, 'runs', { queue: 'b', job: 'a' })).toEqual(['1'])
  })

  it('is refused with another filter and for another list', () => {
    for (const [list, filter] of [
      ['runs', { job: 'b' }],
      ['runs', {}],
      ['runs', { job: 'a', queue: 'b' }],
      ['schedules', { job: 'a' }],
    ] as const) {
      expect(() => read(token, list, filter)).toThrow(/pageToken: .* of another list or filter/)
    }
  })

  it('is refused where it is cut, changed or invented', () => {
    const [body, check] = token.split('.') as [string, string]
    const invented = Buffer.from('[]').toString('base64url')
    const nowhere = write('runs', { job: 'a' }, ['nowhere'])
    for (const bad of [
      '',
      '.',
      'abc',
      body,
      `${body}.`,
      `${body}x.${check}`,
      `${token}0`,
      `${token}.`,
      `${invented}.${check}`,
      nowhere,
    ]) {
      expect(() => read(bad, 'runs', { job: 'a' })).toThrow(
        /pageToken: .* is none that a page of this list has/,
      )
    }
  })
})

describe('a page', () => {
  /** Looks at the numbers from 1 to 100, `size` at a time, for those that are asked for. */
  const looking =
    (size: number, isWanted: (number: number) => boolean): LookFrom<number, number> =>
    async (from, limit) => {
      const seen = Array.from({ length: size }, (_, index) => from + index + 1).filter(
        (number) => number <= 100,
      )
      return { rows: seen.filter(isWanted).slice(0, limit), end: seen.length < size ? null : from + size }
    }
  const page = (looks: LookFrom<number, number>[], { from = 0, limit = 3 } = {}) =>
    fillPage({ limit, from, looks, positionOf: (number) => number })
  const any = () => true
  const isTenth = (number: number) => number % 10 === 0

  it('is filled, and the next one begins behind its last row', async () => {
    expect(await page([looking(4, any)])).toEqual({ rows: [1, 2, 3], next: 3 })
    expect(await page([looking(50, isTenth)])).toEqual({ rows: [10, 20, 30], next: 30 })
  })

  it('is filled by several looks, and is short where they find too little', async () => {
    expect(await page([looking(10, isTenth), looking(10, isTenth), looking(40, isTenth)])).toEqual({
      rows: [10, 20, 30],
      next: 30,
    })
    expect(await page([looking(10, isTenth), looking(15, isTenth)])).toEqual({ rows: [10, 20], next: 25 })
    expect(await page([looking(5, isTenth)])).toEqual({ rows: [], next: 5 })
  })

  it('is the last one where the list ends, also where it is just full', async () => {
    expect(await page([looking(4, any)], { from: 98 })).toEqual({ rows: [99, 100], next: null })
    expect(await page([looking(4, any)], { from: 97 })).toEqual({ rows: [98, 99, 100], next: null })
    expect(await page([looking(4, any)], { from: 100 })).toEqual({ rows: [], next: null })
  })

  it('goes on with the next look where one cannot tell', async () => {
    const cannot: LookFrom<number, number> = async () => null
    expect(await page([cannot, looking(4, any), cannot])).toEqual({ rows: [1, 2, 3], next: 3 })
    expect(await page([looking(5, isTenth), cannot])).toEqual({ rows: [], next: 5 })
  })

  it('gives everything once, however it is cut', async () => {
    for (const limit of [1, 2, 3, 7, 10]) {
      const all: number[] = []
      let from: number | null = 0
      while (from !== null) {
        const { rows, next } = await page([looking(limit + 1, isTenth), looking(8, isTenth)], { from, limit })
        all.push(...rows)
        from = next
      }
      expect(all).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90, 100])
    }
  })
})
