import { it } from 'vitest'
import { after, cron, every, once, previewOccurrences, rrule, type Timing } from '../../src/time/index.js'
import { evaluate, expectTables } from './tables.js'

const PAGE = 'docs/guide/timings.md'
const DAY_MS = 86_400_000

function timingOf(code: string): Timing {
  return evaluate(code, { after, cron, every, once, rrule }) as Timing
}

it('the page on timings tells the first plan times of 2027', () => {
  expectTables(PAGE, 'timing', (code) => {
    const { description, occurrences } = previewOccurrences(timingOf(code), {
      after: Date.parse('2027-01-01T00:00:00Z'),
      count: 3,
    })
    const times = occurrences.map(({ local }) => local.replace('T', ' ').replace(/:00([+-])/, '$1'))
    return [description, times.join('<br>')]
  })
})

it('the page on timings tells what happens when clocks change', () => {
  const onDay = (code: string, day: string) => {
    const { occurrences } = previewOccurrences(timingOf(code), {
      after: Date.parse(day) - DAY_MS,
      count: 100,
    })
    const times = occurrences
      .filter(({ local }) => local.startsWith(day) && local.slice(11) < '05')
      .map(({ local }) => local.slice(11).replace(/:00([+-])/, '$1'))
    return times.length > 0 ? times.join(', ') : 'not at all'
  }
  expectTables(PAGE, 'in Paris', (code) => [onDay(code, '2027-03-28'), onDay(code, '2027-10-31')])
})

it('the page on timings tells what is refused', () => {
  expectTables(PAGE, 'refused', (code) => {
    try {
      timingOf(code)
    } catch (error) {
      return [(error as Error).message]
    }
    throw new Error(`${code} was not refused`)
  })
})
