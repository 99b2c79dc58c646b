import { expect, it } from 'vitest'
import type { Queue, Stats, Worker } from '../api/client.ts'
import { verdictOf } from './verdict.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const NONE = { succeeded: 0, failed: 0, cancelled: 0, skipped: 0 }
const WELL: Stats = {
  asOf: NOW.toISOString(),
  schedules: { active: 3, paused: 0, broken: 0, finished: 0 },
  open: { pending: 0, running: 0, retrying: 0 },
  ended: { lastHour: NONE, lastDay: NONE },
  overdue: { schedules: 0, since: null },
  lateness: { runs: 20, p50: 4, p95: 12, p99: 40 },
  claiming: { paused: false, reason: null, by: null, since: null },
  database: { kind: 'pglite', mode: 'direct', version: '18', schema: 'escapement', schemaVersion: 1 },
}
const ALIVE = { state: 'alive' } as Worker
const waitingFor = (seconds: number): Queue => ({
  name: 'default',
  ready: 1,
  waiting: 0,
  retrying: 0,
  running: 0,
  oldestReadyAt: new Date(NOW.getTime() - seconds * 1_000).toISOString(),
})
const broken = { ...WELL, schedules: { ...WELL.schedules, broken: 1 } }
const paused = { ...broken, claiming: { ...WELL.claiming, paused: true } }
const overdue = { ...paused, overdue: { schedules: 2, since: '2026-03-01T11:55:00Z' } }

it.each([
  ['On time', WELL, [], [ALIVE]],
  ['On time', { ...WELL, lateness: null }, [], []],
  ['On time', WELL, [waitingFor(2)], [ALIVE]],
  ['Late', WELL, [waitingFor(30)], [ALIVE]],
  ['Late', { ...WELL, lateness: { runs: 20, p50: 4, p95: 30_000, p99: 30_000 } }, [], [ALIVE]],
  ['Broken', broken, [waitingFor(30)], [ALIVE]],
  ['Stuck', broken, [waitingFor(30)], []],
  ['Stuck', broken, [waitingFor(1_000)], [ALIVE]],
  ['Paused', paused, [waitingFor(1_000)], []],
  ['Stuck', overdue, [], [ALIVE]],
] as const)('is %s by the worst that is true', (word, stats, queues, workers) => {
  expect(verdictOf(stats, queues, workers, NOW)).toMatchObject({ word })
})

it('says why', () => {
  expect(verdictOf(overdue, [], [ALIVE], NOW).reason).toBe(
    'No scheduler has looked at 2 due schedules for 5 min.',
  )
  expect(verdictOf(WELL, [], [ALIVE], NOW).reason).toBe(
    'Nothing is overdue, and 95 % of the last runs started within 12 ms.',
  )
})
