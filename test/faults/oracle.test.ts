import { expect, it } from 'vitest'
import type { Content, Role } from './cast.js'
import type { ObservedEntry, VerbEntry } from './history.js'
import { expectedOf } from './oracle.js'

const role = { name: 'each' } as Role
const everySecond = (mark: number): Content => ({ mark, grid: { kind: 'every', seconds: 1 } })
const T = Date.parse('2026-11-16T00:00:00Z')

function asked(verb: string, [t0, t1]: [number, number], rest: Partial<VerbEntry> = {}): VerbEntry {
  const facts = { type: 'verb' as const, user: 'u', number: 0, name: 'each', answer: 'ok' as const }
  return { ...facts, verb, t0: T + t0, t1: T + t1, ...rest }
}

function seen([t0, t1]: [number, number], rest: Partial<ObservedEntry>): ObservedEntry {
  const facts = { type: 'observed' as const, user: 'u', number: 0, name: 'each', exists: true, mark: 1 }
  return { ...facts, t0: T + t0, t1: T + t1, ...rest }
}

/** A letter for each second from 1 on: whether it must run, must be skipped as paused, or may be either. */
function fates(entries: (VerbEntry | ObservedEntry)[], seconds: number): string {
  const { occurrences } = expectedOf(role, entries, T + seconds * 1000)
  return Array.from({ length: seconds }, (_, index) => {
    const found = occurrences.get(T + (index + 1) * 1000)
    if (!found) return '-'
    const pauses = found.epochs.map(({ isPaused }) => isPaused)
    if (found.isCertain) return pauses[0] ? 'p' : 'r'
    return pauses.includes(true) ? '?' : '!'
  }).join('')
}

const put = asked('put', [100, 200], { content: everySecond(1) })

it('plan times within the window of a verb may have gone either way, and no others', () => {
  expect(fates([put, asked('pause', [2_500, 4_500]), asked('resume', [6_100, 6_200])], 8)).toBe('rr??pprr')
  expect(fates([put, asked('delete', [2_500, 3_500])], 5)).toBe('rr!--')
})

it('a pause that is to end by itself ends at its time', () => {
  const pause = asked('pause', [2_100, 2_200], { until: T + 5_500 })
  expect(fates([put, pause], 8)).toBe('rrppprrr')
  expect(fates([put, pause, asked('put', [7_100, 7_200], { content: everySecond(2) })], 9)).toBe('rrppprrrr')
  // It met a verb on its way, which may have been before its end or after it.
  expect(fates([put, pause, asked('put', [4_100, 6_500], { content: everySecond(2) })], 9)).toBe('rrpp??rrr')
  expect(fates([put, pause, asked('pause', [4_100, 6_500])], 9)).toBe('rrpp??ppp')
})

it('a pause that was not heard of may have been, and be over', () => {
  const pause = asked('pause', [2_100, 3_200], { until: T + 4_500, answer: 'unknown' })
  expect(fates([put, pause, seen([5_600, 5_700], { isPaused: false })], 8)).toBe('rr???rrr')
  // Shown as paused, as no scheduler has come to it yet.
  expect(fates([put, pause, seen([5_600, 5_700], { isPaused: true, until: T + 4_500 })], 8)).toBe('rr???rrr')
  expect(fates([put, pause, seen([3_600, 3_700], { isPaused: true, until: T + 4_500 })], 8)).toBe('rr?prrrr')
})

it('a group is paused where it was not, and resumed where it was', () => {
  const verbs = [asked('pause group', [2_100, 2_200]), asked('resume group', [4_100, 4_200])]
  expect(fates([put, ...verbs], 6)).toBe('rrpprr')
  expect(fates([put, verbs[1]!], 6)).toBe('rrrrrr')
})

it('what is a plan time before a verb and after it has an answer, whichever way it went', () => {
  const isDue = (...verbs: VerbEntry[]) =>
    expectedOf(role, [put, ...verbs], T + 8_000).occurrences.get(T + 3_000)!.isDue
  expect(isDue(asked('pause', [2_500, 3_500]))).toBe(true)
  expect(isDue(asked('put', [2_500, 3_500], { content: everySecond(2) }))).toBe(true)
  const everyFour: Content = { mark: 2, grid: { kind: 'every', seconds: 4 } }
  expect(isDue(asked('put', [2_500, 3_500], { content: everyFour }))).toBe(false)
  expect(isDue(asked('delete', [2_500, 3_500]))).toBe(false)
  const again = asked('put', [2_900, 3_500], { content: everySecond(2) })
  expect(isDue(asked('delete', [2_500, 2_800]), again)).toBe(false)
})
