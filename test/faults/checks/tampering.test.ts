/** Each check, by what it must not let pass: a perfect run is found clean, and each way to spoil it is found out by its name. */
import { expect, it } from 'vitest'
import { checkRecords, type Records } from '../records.js'
import type { Finding } from './finding.js'
import type { RunRow } from './ledger.js'
import { createPerfectRun, T } from './perfect-run.js'

function findingsOf(tamper: (records: Records) => void = () => {}): Finding[] {
  const records = createPerfectRun()
  tamper(records)
  const findings: Finding[] = []
  checkRecords(records, (kind, about, message) => void findings.push({ kind, about, message }))
  return findings
}

const named = ({ ledger }: Records, name: string) =>
  ledger.runs.filter(({ scheduleId }) => ledger.names.get(scheduleId ?? '') === name)
const at = (records: Records, name: string, second: number) =>
  named(records, name).find(({ planTime }) => planTime === T + second * 1000)!

const together = ({ ledger }: Records, input: string) => ledger.runs.find((run) => run.input === input)!

/** A run that never was: its row, and what its handler would have written. */
function remove(records: Records, runs: readonly RunRow[]): void {
  const gone = new Set(runs.map(({ id }) => id))
  records.ledger.runs = records.ledger.runs.filter(({ id }) => !gone.has(id))
  records.ledger.attempts = records.ledger.attempts.filter(({ run }) => !gone.has(run))
  records.witnesses.lines = records.witnesses.lines.filter(({ run }) => !gone.has(run))
}

/** Skipped instead of run. */
function skipInstead(records: Records, runs: readonly RunRow[], reason: string): void {
  remove(records, runs)
  for (const { scheduleId, scope, planTime, createdAt } of runs) {
    const range = { first: planTime!, last: planTime!, decidedAt: Math.max(createdAt, planTime! + 2_500) }
    records.ledger.skips.push({ scheduleId: scheduleId!, scope: scope!, reason, ...range })
  }
}

it('a perfect run is clean, and its stale completion is counted as refused', () => {
  const records = createPerfectRun()
  const counts = checkRecords(records, (kind, about, message) => expect.fail(`${kind} ${about} ${message}`))
  // The one that was frozen, and the one that was replaced.
  expect(counts.witnesses.staleRefused).toBe(2)
  expect(counts.occurrences.inPeace).toBeGreaterThan(0)
  expect(counts.starts.inPeace).toBeGreaterThan(0)
  expect(counts).toMatchObject({ breaks: 1, failedAttempts: expect.any(Number), chained: expect.any(Number) })
})

it('a backfilled run that waits for its next attempt gives way to an occurrence that replaces; one at work does not', () => {
  const overlaps = (attemptEnds?: number) => {
    const findings = findingsOf((records) => {
      const before = at(records, 'lane-2', 66)
      before.trigger = 'backfill'
      before.finishedAt! += 8_000
      if (attemptEnds === undefined) return
      const ended = { startedAt: before.createdAt, finishedAt: T + attemptEnds, code: 'lease_lost' }
      records.ledger.attempts.push({ run: before.id, number: 1, worker: 'worker 1', ...ended })
    })
    return findings.filter(({ kind }) => kind === 'overlap').length
  }
  expect(overlaps(67_000)).toBe(0)
  expect(overlaps(73_000)).toBe(1)
  expect(overlaps()).toBe(1)
})

const move = (run: RunRow, ms: number) => {
  run.createdAt += ms
  if (run.finishedAt !== null) run.finishedAt += ms
}

const TAMPERINGS: Record<string, [Finding['kind'], RegExp, (records: Records) => void]> = {
  'all runs failed without having been executed': [
    'lost',
    /failed with lease_lost/,
    ({ ledger }) => {
      for (const run of ledger.runs)
        Object.assign(run, { state: 'failed', errorCode: 'lease_lost', result: null })
    },
  ],
  'a run was cancelled that nobody may cancel': [
    'lost',
    /nobody could/,
    (records) => Object.assign(at(records, 'each-0', 60), { state: 'cancelled', errorCode: 'cancelled' }),
  ],
  'a run was replaced by nothing': [
    'lost',
    /nothing took its place/,
    (records) => Object.assign(at(records, 'lane-2', 72), { state: 'cancelled', errorCode: 'cancelled' }),
  ],
  'a run lost its lease in peace': [
    'lost',
    /nothing was broken/,
    (records) => {
      const run = at(records, 'breaker-0', 40)
      Object.assign(run, { errorCode: 'lease_lost' })
      records.entries = records.entries.filter(({ type }) => type !== 'fault')
    },
  ],
  'a failure that nobody saw': [
    'lost',
    /which nobody saw fail/,
    (records) => {
      const run = at(records, 'breaker-0', 40)
      records.witnesses.lines = records.witnesses.lines.filter((line) => line.run !== run.id)
    },
  ],
  'a run that was to fail succeeded': [
    'outcome',
    /was to fail/,
    (records) => Object.assign(at(records, 'breaker-0', 40), { state: 'succeeded', errorCode: null }),
  ],
  'a run is open in the end': [
    'stuck',
    /is open/,
    (records) =>
      Object.assign(at(records, 'each-0', 60), { state: 'pending', finishedAt: null, result: null }),
  ],
  'it broke without failures': [
    'breaker',
    /0 in a row had failed/,
    (records) => {
      for (const run of named(records, 'breaker-0')) run.state = 'succeeded'
    },
  ],
  'it did not break': [
    'breaker',
    /did not break/,
    ({ ledger }) => {
      ledger.breaks = []
    },
  ],
  'runs were planned while it was broken': [
    'breaker',
    /which had broken/,
    (records) => {
      records.ledger.runs.push({
        ...at(records, 'breaker-0', 65),
        id: 'x',
        planTime: T + 50_000,
        createdAt: T + 50_020,
      })
    },
  ],
  'skipped as broken, and had not broken': [
    'unexpected',
    /and had not broken/,
    (records) => skipInstead(records, [at(records, 'breaker-0', 75)], 'broken'),
  ],
  'left out as if it were broken': [
    'lost',
    /neither a run nor a skip/,
    (records) => {
      remove(records, [at(records, 'breaker-0', 75)])
      Object.assign(records.ledger.schedules.find(({ name }) => name === 'breaker-0')!, {
        state: 'broken',
        decidedThrough: T + 74_000,
      })
    },
  ],
  'a plan time was planned late in peace': [
    'late',
    /was planned 12020 ms late/,
    (records) => move(at(records, 'each-0', 60), 12_000),
  ],
  'a plan time of a storm was planned long after it': [
    'late',
    /was planned \d+ ms late/,
    (records) => move(at(records, 'each-0', 22), 30_000),
  ],
  'a link of a chain was planned late': [
    'late',
    /after-0 .* was planned at/,
    (records) => move(named(records, 'after-0').at(-2)!, 12_000),
  ],
  'a handler began late': [
    'late',
    /and began at/,
    (records) => {
      const { id } = at(records, 'each-0', 60)
      for (const line of records.witnesses.lines) if (line.run === id) line.database = line.database! + 12_000
    },
  ],
  'there was no peace': [
    'late',
    /no plan time was in peace/,
    ({ entries, horizon }) => {
      for (const entry of entries) if (entry.type === 'fault') Object.assign(entry, { t0: T, t1: horizon })
    },
  ],
  'a stale attempt failed a run': [
    'stale',
    /attempt 2 is recorded as failed .* nobody saw it fail/,
    ({ ledger }) => {
      const run = ledger.runs.find(({ key }) => key === 'frozen')!
      const failed = { startedAt: T + 26_080, finishedAt: T + 29_000, code: 'handler_error' }
      ledger.attempts.push({ run: run.id, number: 2, worker: 'worker 2', ...failed })
    },
  ],
  'a stale attempt took the lease from the newest': [
    'stale',
    /attempt 2 is recorded as having lost its lease 420 ms after it got it/,
    ({ ledger }) => {
      const run = ledger.runs.find(({ key }) => key === 'frozen')!
      const lost = { startedAt: T + 26_080, finishedAt: T + 26_500, code: 'lease_lost' }
      ledger.attempts.push({ run: run.id, number: 2, worker: 'worker 2', ...lost })
    },
  ],
  'an attempt is recorded before it failed': [
    'stale',
    /before it had/,
    ({ ledger }) => {
      ledger.attempts[0]!.finishedAt -= 400
    },
  ],
  'an attempt that nobody knows of': [
    'stale',
    /nothing is known of attempt 1/,
    ({ ledger }) => {
      ledger.attempts.shift()
    },
  ],
  'a stale attempt completed a run': [
    'stale',
    /attempt 1 completed it/,
    ({ ledger, witnesses }) => {
      const run = ledger.runs.find(({ key }) => key === 'frozen')!
      const stale = witnesses.lines.find(
        ({ what, run: id, attempt }) => what === 'end' && id === run.id && attempt === 1,
      )!
      run.result = { nonce: stale.nonce, attempt: 1 }
    },
  ],
  'skipped for an overlap with nothing': [
    'unexpected',
    /skipped as overlap, at .* when 0 others were open/,
    (records) => skipInstead(records, [at(records, 'lane-0', 60)], 'overlap'),
  ],
  'the latest was missed': [
    'unexpected',
    /although it was the latest/,
    (records) => skipInstead(records, [at(records, 'latest-0', 24)], 'missed'),
  ],
  'two runs of a lane at once': [
    'overlap',
    /began at .*, and .* ended at/,
    (records) => {
      const before = at(records, 'lane-0', 50)
      before.finishedAt! += 8_000
    },
  ],
  'all links of a chain are gone': [
    'lost',
    /idle since .* and no run followed/,
    (records) => remove(records, named(records, 'after-0')),
  ],
  'a chain ended': [
    'lost',
    /idle since .* and no run followed/,
    (records) => remove(records, named(records, 'after-0').slice(10)),
  ],
  'a link follows from nothing': [
    'after',
    /follows neither from the end/,
    (records) => remove(records, named(records, 'after-0').slice(20, 26)),
  ],
  'a link came too soon': [
    'after',
    /ms after the end/,
    (records) => {
      named(records, 'after-0')[20]!.planTime! -= 500
    },
  ],
  'a plan time in the window of a verb has no answer': [
    'lost',
    /each-0 global .*00:00:52.000Z.*neither/,
    (records) => remove(records, [at(records, 'each-0', 52)]),
  ],
  'a certain plan time has no answer': [
    'lost',
    /neither a run nor a skip/,
    (records) => remove(records, [at(records, 'each-0', 60)]),
  ],
  'runs of a schedule that nobody made': [
    'unexpected',
    /which nobody made/,
    (records) => {
      records.ledger.runs.push({ ...at(records, 'each-0', 60), id: 'x', scheduleId: 'unknown' })
    },
  ],
  'runs in a scope that there is not': [
    'unexpected',
    /in the scope nowhere/,
    (records) => {
      records.ledger.runs.push({ ...at(records, 'each-0', 60), id: 'x', scope: 'nowhere' })
    },
  ],
  'of runs that were asked for together one is missing': [
    'lost',
    /promised this run/,
    (records) => remove(records, [together(records, 'few-2')]),
  ],
  'of runs that were asked for together, and of which nobody heard, one is missing': [
    'lost',
    /1 are there of 2 runs of quick/,
    (records) => remove(records, [together(records, 'heard-2')]),
  ],
  'of runs that were asked for together one is there twice': [
    'doubled',
    /2 runs of few few-2/,
    (records) => {
      records.ledger.runs.push({ ...together(records, 'few-2'), id: 'x' })
    },
  ],
  'a direct run without a key that nobody asked for': [
    'unexpected',
    /without a key that nobody/,
    (records) => {
      records.ledger.runs.push({ ...together(records, 'few-2'), id: 'x', input: 'unasked' })
    },
  ],
  'a run that was asked for together with others is of another job': [
    'unexpected',
    /is one of slow/,
    (records) => Object.assign(together(records, 'heard-2'), { job: 'slow' }),
  ],
  'more are at work than a job has places': [
    'overlap',
    /a run of few began/,
    (records) => {
      const { id } = together(records, 'few-3')
      for (const line of records.witnesses.lines) if (line.run === id) line.database! -= 600
    },
  ],
  'a scheduled run without a plan time': [
    'unexpected',
    /without a plan time/,
    (records) => {
      records.ledger.runs.push({ ...at(records, 'each-0', 60), id: 'x', planTime: null })
    },
  ],
  'two runs of one occurrence': [
    'doubled',
    /2 runs of each-0/,
    (records) => {
      records.ledger.runs.push({ ...at(records, 'each-0', 60), id: 'x' })
    },
  ],
  'a run that was planned before its time, after the horizon': [
    'early',
    /was planned at/,
    (records) => {
      const run = { ...at(records, 'each-0', 60), id: 'x', planTime: T + 900_000 }
      records.ledger.runs.push(run)
    },
  ],
}

for (const [what, [kind, saying, tamper]] of Object.entries(TAMPERINGS)) {
  it(`is found out: ${what}`, () => {
    const found = findingsOf(tamper)
    const texts = found.filter((one) => one.kind === kind).map(({ about, message }) => `${about} ${message}`)
    expect(
      texts.some((text) => saying.test(text)),
      JSON.stringify(found.slice(0, 10)),
    ).toBe(true)
  })
}
