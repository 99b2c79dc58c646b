/**
 * What a perfect scheduler would have left behind, of a minute and a half in which one process was killed: small enough to be
 * understood, and with one of everything that the checks look at. Tampered with, it must be found out.
 */
import { randomUUID } from 'node:crypto'
import { AFTER_SECONDS, type Content, createCast, type Role } from '../cast.js'
import { isFated } from '../fates.js'
import { planTimesOf } from '../grids.js'
import type { Entry, VerbEntry } from '../history.js'
import type { Records } from '../records.js'
import type { Ledger, RunRow } from './ledger.js'
import type { Witnessed } from './witnesses.js'

export const T = Date.parse('2026-11-16T00:00:00Z')
const SEED = 7
const HORIZON = T + 90_000
/** Nobody plans anything meanwhile. */
const FAULT = { t0: T + 20_500, t1: T + 25_500 }

const CONTENTS: Record<string, number> = {
  'each-0': 2,
  'scoped-0': 5,
  'lane-0': 5,
  'lane-2': 6,
  'latest-0': 3,
  'limp-0': 7,
  'breaker-0': 5,
  'after-0': AFTER_SECONDS,
}

export function createPerfectRun(): Records {
  const cast = createCast().filter(({ name }) => name in CONTENTS)
  const entries: Entry[] = []
  const ledger: Ledger = { runs: [], skips: [], schedules: [], names: new Map(), attempts: [], breaks: [] }
  const lines: Witnessed[] = []
  const idOf = (name: string) => `schedule of ${name}`

  function ask(verb: string, name: string, from: number, rest: Partial<VerbEntry> = {}): void {
    const answer = { answer: 'ok' as const, t0: T + from, t1: T + from + 100, ...rest }
    entries.push({ type: 'verb', user: 'u', number: entries.length, verb, name, ...answer })
  }

  /** The start and the end of an attempt, half a second long unless it is told otherwise. */
  function witness(
    run: RunRow,
    start: number,
    { ms = 500, what = 'end' as 'end' | 'failed', attempt = 1 } = {},
  ): Witnessed {
    const facts = {
      run: run.id,
      job: run.job,
      schedule: null,
      planTime: run.planTime,
      attempt,
      nonce: randomUUID(),
    }
    const lease = `lease ${attempt} of ${run.id}`
    const whose = { worker: `worker ${attempt}`, node: 'node-0', mono: 0, lease }
    lines.push({ what: 'start', ...facts, ...whose, host: start, database: start })
    const end = { what, ...facts, ...whose, host: start + ms, database: start + ms, holds: lease }
    lines.push(end)
    return end
  }

  function add(role: Role | null, job: string, createdAt: number, rest: Partial<RunRow> = {}): RunRow {
    const run: RunRow = {
      id: randomUUID(),
      scheduleId: role && idOf(role.name),
      scope: role && role.scopes[0]!,
      planTime: null,
      trigger: 'scheduled',
      job,
      key: null,
      input: null,
      state: 'succeeded',
      attempt: 1,
      lease: null,
      createdAt,
      finishedAt: null,
      errorCode: null,
      result: null,
      ...rest,
    }
    ledger.runs.push(run)
    return run
  }

  function succeed(run: RunRow, { ms = 500, attempt = 1, start = run.createdAt + 50 } = {}): RunRow {
    const { nonce, lease } = witness(run, start, { ms, attempt })
    return Object.assign(run, { finishedAt: start + ms + 10, attempt, lease, result: { nonce, attempt } })
  }

  const decidedAt = (planTime: number) =>
    planTime > FAULT.t0 && planTime < FAULT.t1 + 500 ? FAULT.t1 + 500 : planTime + 20

  for (const role of cast) {
    const { name } = role
    const content: Content = {
      mark: 1,
      grid: { kind: name === 'after-0' ? 'after' : 'every', seconds: CONTENTS[name]! },
    }
    ledger.names.set(idOf(name), name)
    const standing = {
      state: 'active',
      nextAt: HORIZON + 1_000,
      wakeAt: HORIZON + 1_000,
      decidedThrough: HORIZON,
    }
    ledger.schedules.push({ id: idOf(name), name, ...standing })
    ask('put', name, 0, { content })
    play(role, content, planTimesOf(content, T + 1_000, HORIZON))
  }
  playAfter(cast.find(({ name }) => name === 'after-0')!)
  playDirect()
  playTogether()
  entries.push({ type: 'fault', number: 0, kind: 'kill a process', target: 'node-0', ...FAULT })
  return {
    cast,
    entries,
    ledger,
    witnesses: { lines, processes: [] },
    seed: SEED,
    horizon: HORIZON,
    patience: 1,
  }

  function skip(role: Role, reason: string, first: number, last: number, decidedAt: number): void {
    for (const scope of role.scopes)
      ledger.skips.push({ scheduleId: idOf(role.name), scope, first, last, reason, decidedAt })
  }

  function play(role: Role, content: Content, planTimes: readonly number[]): void {
    const { name, job } = role
    const at = (seconds: number) => T + seconds * 1000
    if (name === 'each-0') {
      // Out for ten seconds; and edited on the very second of a plan time.
      ask('pause', name, 30_500)
      ask('resume', name, 40_500)
      skip(role, 'paused', at(32), at(40), at(40.6))
      ask('patch', name, 51_950, { content: { ...content, mark: 2 } })
    }
    if (name === 'latest-0') skip(role, 'missed', at(21), at(21), at(26))
    if (name === 'breaker-0') {
      ledger.breaks.push({ scheduleId: idOf(name), changedAt: at(40) + 590 })
      ask('resume', name, 61_500)
      skip(role, 'broken', at(45), at(60), at(61.6))
    }
    for (const planTime of planTimes) {
      const second = (planTime - T) / 1000
      if (
        ledger.skips.some(
          (one) => one.scheduleId === idOf(name) && one.first <= planTime && planTime <= one.last,
        )
      )
        continue
      for (const scope of role.scopes) {
        const run = add(role, job, decidedAt(planTime), { scope, planTime })
        if (name === 'lane-0' && second === 55) {
          ledger.runs.pop()
          skip(role, 'overlap', planTime, planTime, decidedAt(planTime))
        } else if (name === 'lane-0' && second === 50) succeed(run, { ms: 6_000 })
        else if (name === 'lane-2' && second === 54) {
          witness(run, run.createdAt + 50, { ms: 7_000 }).holds = null
          Object.assign(run, { state: 'cancelled', errorCode: 'cancelled', finishedAt: at(60) + 10 })
        } else if (name === 'breaker-0' && [30, 35, 40].includes(second)) doom(run)
        else if (name === 'limp-0') limp(run)
        else {
          if (job === 'doomed') while (isFated(SEED, run.id, 'doomed')) run.id = randomUUID()
          succeed(run)
        }
      }
    }
  }

  function fail(run: RunRow, attempt: number): number {
    const { worker, database } = witness(run, run.createdAt + 50, { what: 'failed', attempt })
    const finishedAt = database! + 10
    const startedAt = run.createdAt + 20
    ledger.attempts.push({
      run: run.id,
      number: attempt,
      worker,
      startedAt,
      finishedAt,
      code: 'handler_error',
    })
    return finishedAt
  }

  function doom(run: RunRow): void {
    while (!isFated(SEED, run.id, 'doomed')) run.id = randomUUID()
    Object.assign(run, { state: 'failed', errorCode: 'handler_error', finishedAt: fail(run, 1) })
  }

  function limp(run: RunRow): void {
    succeed(run, { attempt: 2, start: fail(run, 1) + 200 })
  }

  function playAfter(role: Role): void {
    for (let from = T + 50; from < HORIZON; ) {
      const planTime = from + AFTER_SECONDS * 1000
      from = succeed(add(role, role.job, decidedAt(planTime), { planTime })).finishedAt!
    }
  }

  /** Asked for under keys; one whose process was killed, and one whose process was frozen and came back too late. */
  function playDirect(): void {
    for (const [key, seconds] of [
      ['killed', 20],
      ['frozen', 21],
      ['late', 70],
    ] as const) {
      const job = key === 'killed' ? 'at-most-once' : 'quick'
      const run = add(null, job, T + seconds * 1000, { trigger: 'direct', key })
      ask('enqueue', job, seconds * 1000, { key, id: run.id })
      if (key === 'late') succeed(run)
      if (key === 'killed')
        Object.assign(run, { state: 'failed', errorCode: 'stale_lease', finishedAt: T + 26_000 })
      if (key !== 'frozen') continue
      const stale = witness(run, run.createdAt + 50, { ms: 8_000 })
      const lost = { startedAt: run.createdAt + 20, finishedAt: T + 26_000, code: 'lease_lost' }
      ledger.attempts.push({ run: run.id, number: 1, worker: stale.worker, ...lost })
      succeed(run, { attempt: 2, start: T + 26_100, ms: 4_000 })
      stale.holds = run.lease
    }
  }

  /** Asked for together without keys, of which two may be at work at once; and some of which nobody heard whether they were taken. */
  function playTogether(): void {
    const together = [1, 2, 3].map((number) =>
      add(null, 'few', T + 40_000, { trigger: 'direct', input: `few-${number}` }),
    )
    together.forEach(
      (run, index) => void succeed(run, { start: run.createdAt + 50 + 600 * Math.max(0, index - 1) }),
    )
    const runIds = together.map(({ id }) => id)
    ask('enqueue many', 'few', 40_000, { inputs: ['few-1', 'few-2', 'few-3'], runIds })
    for (const number of [1, 2]) {
      succeed(add(null, 'quick', T + 41_000, { trigger: 'direct', input: `heard-${number}` }))
    }
    ask('enqueue many', 'quick', 41_000, { inputs: ['heard-1', 'heard-2'], answer: 'unknown' })
    ask('enqueue many', 'quick', 42_000, { inputs: ['unheard-1', 'unheard-2'], answer: 'unknown' })
  }
}
