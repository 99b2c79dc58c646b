import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { benchEnqueue, QUICK as ENQUEUE } from '../../bench/enqueue.js'
import { benchFire, QUICK as FIRE } from '../../bench/fire.js'
import { benchGrowth, QUICK as GROWTH } from '../../bench/growth.js'
import { benchLayout, QUICK as LAYOUT } from '../../bench/layout.js'
import { benchLists, QUICK as LISTS } from '../../bench/lists.js'
import { benchQueue, QUICK as QUEUE } from '../../bench/queue.js'
import { benchRunning, QUICK as RUNNING } from '../../bench/running.js'
import { benchRunsLayout, QUICK as RUNS_LAYOUT } from '../../bench/runs-layout.js'
import { benchSetups, QUICK as SETUPS } from '../../bench/setups.js'
import { judge, type Sample } from '../../bench/soak/verdict.js'
import { QUICK as SOAK, soak } from '../../bench/soak.js'
import { benchStatements, QUICK as STATEMENTS } from '../../bench/statements.js'
import { benchTransitions, QUICK as TRANSITIONS } from '../../bench/transitions.js'
import { benchUpkeep, QUICK as UPKEEP } from '../../bench/upkeep.js'

it('the bench of firing runs, and every herd gets all its runs', async () => {
  const lines: string[] = []
  await benchFire(FIRE, (line) => lines.push(line))
  expect(lines.join('\n')).toMatch(/2,500 due: [\d,]+ .* schedules\/s/)
})

it('the bench of statements runs, and writes down how each of them was carried out', async () => {
  const page = await benchStatements(STATEMENTS)
  const rows = page.split('\n').filter((line) => line.startsWith('| ') && !line.includes('---'))
  expect(rows.slice(1).map((row) => row.split(' | ').slice(0, 3))).toEqual([
    ['| one direct run', '1', 'enqueue a run, claim runs, record successes'],
    ['| one direct run that begins as it is enqueued', '1', 'enqueue a run that may begin, record successes'],
    ['| direct runs in bulk', '200', 'enqueue lots, claim lots, renew leases, record lots'],
    [
      '| direct runs of a job with a limit',
      '200',
      'enqueue lots, places under limits, unpack lots, claim runs under limits, renew leases, record successes',
    ],
    [
      '| runs of schedules',
      '200',
      'ended pauses, due schedules, record due occurrences, next schedule, claim lots, renew leases, record lots',
    ],
    [
      '| runs of schedules, in herds',
      '200',
      'ended pauses, due herds, record herds, next schedule, claim lots, renew leases, record lots',
    ],
    [
      '| runs that were planned ahead',
      '200',
      'coming schedules, record occurrences planned ahead, next schedule, claim lots, renew leases, record lots',
    ],
    [
      '| runs that begin as they are planned',
      '200',
      'coming schedules, record occurrences planned ahead, next schedule, renew leases, record lots',
    ],
  ])
  for (const row of rows.slice(1)) expect(row).toMatch(/ \| [\d,]+ \| [1-9][\d,]* \|$/)
  expect(page).toMatch(
    /<summary>record due occurrences, [\d.]+ ms<\/summary>\n\n```\n.*actual time=.*\n +Buffers: /,
  )
}, 60_000)

it('the bench of the two layouts runs', async () => {
  const lines: string[] = []
  await benchLayout(LAYOUT, (line) => lines.push(line))
  expect(lines.map((line) => line.split(':')[0])).toEqual(['wide', 'narrow'])
})

it('the bench of upkeep runs, and finds right what it filled in', async () => {
  const lines: string[] = []
  await benchUpkeep(UPKEEP, (line) => lines.push(line))
  expect(lines.join('\n')).toMatch(/a chunk of 1,000 cursors, all right: [\d.]+ /)
})

it('the bench of setups runs, and each of them does its work', async () => {
  const lines: string[] = []
  await benchSetups(SETUPS, (line) => lines.push(line))
  expect(lines.map((line) => line.split(':')[0])).toEqual([
    'embedded',
    'PostgreSQL',
    'PostgreSQL with a synchronous replica',
  ])
}, 60_000)

it('the bench of direct runs runs', async () => {
  const lines: string[] = []
  await benchEnqueue(ENQUEUE, (line) => lines.push(line))
  expect(lines.map((line) => line.split(':')[0])).toEqual([
    'by hand',
    'enqueueMany',
    'enqueueMany with keys',
    'enqueue, 50 callers',
    'enqueue, 1 caller',
  ])
})

it('the bench of the queue runs, and every backlog is drained', async () => {
  const lines: string[] = []
  await benchQueue(QUEUE, (line) => lines.push(line))
  expect(lines).toContain('|  | escapement | hand-written SQL |')
  expect(lines.join('\n')).toMatch(/\| drain, two processes, \/s \| [\d,]+ \| [\d,]+ · \*\*[\d.]+ ×\*\* \|/)
})

it('the bench of the layouts of runs runs, and each of them drains', async () => {
  const lines: string[] = []
  await benchRunsLayout(RUNS_LAYOUT, (line) => lines.push(line))
  expect(lines.map((line) => line.slice(0, line.indexOf(',')))).toEqual([
    'one table',
    'open and finished',
    'three parts',
    'partitions by day',
  ])
}, 120_000)

it('the bench of growth runs, compares each size with the smallest, and draws where it is told to', async () => {
  const lines: string[] = []
  const pictures = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-pictures-'))
  await benchGrowth(GROWTH, (line) => lines.push(line), pictures)
  expect(lines.map((line) => line.split(':')[0])).toEqual([
    '1,000 finished',
    '2,000 finished',
    '1,000 schedules, 500 of them due',
    '2,000 schedules, 500 of them due',
  ])
  expect(lines[3]).toMatch(/, [\d.]+ × that with 1,000$/)
  expect(fs.readdirSync(pictures).sort()).toEqual(['growth-drain.svg', 'growth-firing.svg'])
  fs.rmSync(pictures, { recursive: true })
}, 120_000)

it('the bench of lists runs, and finds what it filled in', async () => {
  const lines: string[] = []
  await benchLists(LISTS, (line) => lines.push(line))
  const found = (label: string) => lines.find((line) => line.startsWith(`| ${label} |`))?.split(' | ')[2]
  expect(found('schedules in the state broken, ten')).toBe('10 |')
  expect(found('schedules by a word that one has')).toBe('1 |')
  expect(found('runs in the group tenant-7')).toMatch(/^\d\d \|$/)
  expect(found('figures')).toBe('596 pending |')
  expect(lines.at(-1)).toMatch(/^\| sync of changed ones, without/)
}, 120_000)

it('the bench of transitions runs, every row that is due is changed, and each statement of the sweep is explained', async () => {
  const lines: string[] = []
  await benchTransitions(TRANSITIONS, (line) => lines.push(line))
  expect(lines.map((line) => line.split(':')[0])).toEqual([
    '1,000 rows, nothing due',
    '1,000 rows, nothing due, the plan',
    '10,000 rows, nothing due',
    '10,000 rows, nothing due, the plan',
    '1,000 due of 10,000 rows, by hand',
    '1,000 due of 10,000 rows, sweeps',
    'lock due rows',
    'read locked rows',
    'apply plans',
    'written two seconds before it is due while the sweeper sleeps, 1 times',
  ])
})

it('the soak runs, with kills and a stranger, nothing is lost, and it draws where it is told to', async () => {
  const lines: string[] = []
  const pictures = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-pictures-'))
  const { signal } = new AbortController()
  expect(await soak(SOAK, { print: (line) => lines.push(line), signal, pictures })).toEqual([])
  expect(lines.filter((line) => line.startsWith('| '))).toHaveLength(2 + 4)
  expect(lines.at(-1)).toMatch(/^audit: \d+ plan times of \d+ schedules, 0 findings; /)
  expect(fs.readdirSync(pictures).sort()).toEqual(['soak-bloat.svg', 'soak-lateness.svg', 'soak-sizes.svg'])
  fs.rmSync(pictures, { recursive: true })
}, 120_000)

it('a soak that is stopped ends at once', async () => {
  const stopping = new AbortController()
  const stopped = soak(SOAK, { print: () => stopping.abort(), signal: stopping.signal })
  await expect(stopped).rejects.toThrow(/abort/)
}, 120_000)

it('a soak is judged by its quarters, away from kills and from the stranger', () => {
  const table = { rows: 1_000, dead: 1_000, tableBytes: 1e6, indexBytes: 1e6 }
  const tables = { runs_open: table, lots: table, cursors: table, runs_asked: table, runs_ended: table }
  const course = (sampleAt: (n: number) => Partial<Sample>) =>
    Array.from({ length: 40 }, (_, n) => ({
      ...{ minute: n, done: 1_000, backlog: 0, ended: n, tables, isNearKill: false, isWithStranger: false },
      lateness: { p50: 5, p99: 50 },
      ...sampleAt(n),
    }))
  const late = { p50: 5, p99: 5_000 }
  expect(judge(course(() => ({})))).toEqual({
    ratios: { p50: 1, p99: 1 },
    spells: [],
    isFlat: true,
    bloat: [],
  })
  expect(judge(course((n) => (n % 6 === 0 ? { isNearKill: true, lateness: late } : {}))).isFlat).toBe(true)
  expect(judge(course((n) => ({ lateness: { p50: 5, p99: 50 + 5 * n } }))).isFlat).toBe(false)
  expect(judge(course((n) => ({ lateness: { p50: 5 + n, p99: 50 } }))).isFlat).toBe(false)
  const behind = (from: number, to: number, kill?: number) =>
    judge(
      course((n) => ({
        isNearKill: n === kill,
        ...(n >= from && n <= to ? { lateness: { p50: 1_000 * n, p99: 2_000 * n } } : {}),
      })),
    )
  const upTo = (minutes: string, late: string) => [
    `from minute ${minutes} half of the handlers began up to ${late} ms late`,
  ]
  expect(behind(21, 23)).toMatchObject({ isFlat: false, spells: upTo('20 to 23', '23,000') })
  expect(behind(21, 23, 22).spells).toEqual(upTo('20 to 23', '23,000'))
  expect(behind(21, 23, 21).spells).toEqual(upTo('21 to 23', '23,000'))
  expect(behind(21, 21, 21)).toMatchObject({ isFlat: true, spells: [] })
  const growing = (n: number) => ({ ...table, dead: 10_000 * n, indexBytes: 4e6 * (1 + n) })
  const withOpen = course((n) => ({ tables: { ...tables, runs_open: growing(n) } }))
  expect(judge(withOpen).bloat).toEqual([
    'runs_open has 350,000 dead rows, after 50,000 at first',
    'runs_open grew from 130.7 to 153.5 MB in the last quarter',
  ])
  const swept = (n: number) => ({ ...table, tableBytes: n % 3 === 2 ? 5e7 : 1e7 })
  expect(judge(course((n) => ({ tables: { ...tables, lots: swept(n) } }))).bloat).toEqual([])
  const withEnded = course((n) => ({ tables: { ...tables, runs_ended: growing(n) } }))
  expect(judge(withEnded).bloat).toEqual(['the indexes of runs_ended take 160,000 bytes a row, after 40,000'])
})

it('the bench of a running system runs: what is due begins, and what a killed worker had begins again', async () => {
  const lines: string[] = []
  await benchRunning(RUNNING, (line) => lines.push(line))
  const text = lines.join('\n')
  expect(text).toMatch(/fired, claimed and completed by one process: [\d,]+ /)
  expect(text).toMatch(/10 due each second: p50 [\d,]+ ms, p99/)
  expect(text).toMatch(/its runs begin again after [\d.]+ /)
})
