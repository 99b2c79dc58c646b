import { it } from 'vitest'
import { defineJob } from '../../src/runs/job.js'
import { type RetryPolicy, retryDelayMs } from '../../src/runs/retry-delay.js'
import { formatDuration, parseDuration } from '../../src/time/duration.js'
import { evaluate, expectTables } from './tables.js'

it('the page on retries tells how long each wait is', () => {
  expectTables('docs/guide/retries.md', 'retry', (code) => {
    const { retry } = defineJob('any', {
      retry: evaluate(`(${code})`, {}) as RetryPolicy,
      handler: () => {},
    })
    const waits: string[] = []
    for (let attempt = 1; ; attempt++) {
      const ends = [1, 0].map((random) => retryDelayMs(retry, attempt, random))
      if (ends.includes(null)) return [String(attempt), waits.join(', ') || '–']
      waits.push([...new Set(ends)].map((ms) => inWords(ms!)).join(' to '))
    }
  })
})

function inWords(ms: number): string {
  return formatDuration(parseDuration({ milliseconds: ms }))
    .replace(/ hours?/, ' h')
    .replace(/ minutes?/, ' min')
    .replace(/ seconds?/, ' s')
}
