import { describe, expect, it } from 'vitest'
import { defineJob, type JobDefinition } from '../../runs/job.js'
import type { Run } from '../../runs/run.js'
import type { FailedAttempt } from '../../store/queries/witnessing.js'
import { Chronicle } from './chronicle.js'
import { overlappingRuns } from './exclusion.js'
import { wrongOutcomes } from './outcomes.js'
import { attemptKey, type Recorded } from './record.js'
import { repeatedExecutions } from './repetition.js'
import { type Execution, Witness } from './witness.js'

/** One attempt of one run, which begins at 1,000 and is recorded to have ended at 5,000. */
const [BEGAN, ENDED] = [1_000, 5_000]

function recordedRun(run: Partial<Run>): Run {
  return {
    id: 'r',
    job: 'job',
    attempt: 1,
    scheduleId: null,
    input: null,
    finishedAt: new Date(ENDED),
    ...run,
  } as Run
}

function recordOf(runs: readonly Run[], code?: string): Recorded {
  const failed = { run_id: 'r', number: 1, started_at: new Date(BEGAN), finished_at: new Date(ENDED), code }
  return {
    runs: new Map(runs.map((run) => [run.id, run])),
    attempts: new Map(code === undefined ? [] : [[attemptKey('r', 1), failed as FailedAttempt]]),
    lanes: new Map(),
    versions: new Map(),
  }
}

function witnessOf(
  executions: readonly Partial<Execution>[],
  definition: Partial<JobDefinition> = {},
): Witness {
  const witness = new Witness(() => 0, new Chronicle(() => 0))
  witness.jobs.set('job', defineJob('job', { handler: () => {}, ...definition }))
  const nothing = {
    planTime: null,
    endedAt: null,
    hasReturned: false,
    abortedAt: null,
    stoppedAt: null,
    goneAt: null,
  }
  for (const execution of executions) {
    witness.executions.push({
      runId: 'r',
      job: 'job',
      attempt: 1,
      startedAt: BEGAN,
      ...nothing,
      ...execution,
    })
  }
  return witness
}

describe('an outcome', () => {
  const returned = { endedAt: 2_000, hasReturned: true }
  const thrown = { endedAt: 2_000 }
  const errorOf = (code: string) => ({ error: { code, message: '' } })

  it.each<
    [string, Partial<Run>, string | undefined, Partial<Execution>[], Partial<JobDefinition>, RegExp | null]
  >([
    ['success that was seen', { state: 'succeeded' }, undefined, [returned], {}, null],
    ['success of a job that was never executed', { state: 'succeeded' }, undefined, [], {}, /not ended well/],
    [
      'success before its handler ended',
      { state: 'succeeded' },
      undefined,
      [{ endedAt: 6_000, hasReturned: true }],
      {},
      /not ended/,
    ],
    [
      'failure that was seen',
      { state: 'failed', ...errorOf('handler_error') },
      'handler_error',
      [thrown],
      {},
      null,
    ],
    [
      'failure of a handler that returned',
      { state: 'retrying', finishedAt: null },
      'handler_error',
      [returned],
      {},
      /no handler had failed/,
    ],
    [
      'failure without its attempt',
      { state: 'failed', ...errorOf('handler_error') },
      undefined,
      [thrown],
      {},
      /not recorded to have failed/,
    ],
    [
      'timeout that nobody was told of',
      { state: 'retrying', finishedAt: null },
      'timed_out',
      [thrown],
      {},
      /told so/,
    ],
    [
      'lease that was lost in time',
      { state: 'retrying', finishedAt: null },
      'lease_lost',
      [{}],
      {},
      /younger than 30 s/,
    ],
    [
      'lease of a process that died',
      { state: 'retrying', finishedAt: null },
      'lease_lost',
      [{ goneAt: 3_000 }],
      {},
      null,
    ],
    [
      'retry of what is to be tried once',
      { state: 'retrying', finishedAt: null },
      'lease_lost',
      [{ goneAt: 3_000 }],
      { onStale: 'fail', retry: { attempts: 1 } },
      /onStale fail/,
    ],
    [
      'skip whose handler was called',
      { state: 'skipped' },
      undefined,
      [returned],
      {},
      /its handler was called/,
    ],
    ['cancellation that nobody asked for', { state: 'cancelled' }, undefined, [{}], {}, /nobody had asked/],
  ])('%s', (_, run, code, executions, definition, seen) => {
    const found = wrongOutcomes(recordOf([recordedRun(run)], code), witnessOf(executions, definition))
    expect(found).toEqual(seen === null ? [] : [expect.stringMatching(seen)])
  })
})

describe('an attempt that begins twice', () => {
  const again = { startedAt: 4_000 }

  it.each<[string, Partial<Execution>, string | undefined, number]>([
    ['is wrong after its signal was aborted', { abortedAt: 2_000 }, undefined, 1],
    ['is right where its process was told to stop', { stoppedAt: 2_000 }, undefined, 0],
    ['is wrong where its process was told to stop later', { stoppedAt: 4_500 }, undefined, 1],
  ])('%s', (_, first, code, count) => {
    const record = recordOf([recordedRun({ state: 'succeeded' })], code)
    expect(repeatedExecutions(record, witnessOf([first, again]))).toHaveLength(count)
  })

  it('is right where the second took no time', () => {
    const record = recordOf([recordedRun({ state: 'succeeded' })])
    expect(repeatedExecutions(record, witnessOf([{ stoppedAt: 2_000 }, { startedAt: ENDED }]))).toEqual([])
  })

  it('is wrong where it was recorded to have ended before', () => {
    const record = recordOf([recordedRun({ state: 'succeeded' })], 'handler_error')
    expect(repeatedExecutions(record, witnessOf([{ stoppedAt: 2_000 }, { startedAt: 6_000 }]))).toHaveLength(
      1,
    )
  })
})

describe('runs that have one key', () => {
  const runs = ['r', 's'].map((id) => recordedRun({ id, input: { customer: { id: 7 } } }))
  const definition = { concurrencyKey: 'customer.id' }
  const first = { endedAt: 3_000 }

  it.each([
    ['are not at work at once', 2_000, [expect.stringMatching(/more than 1 at once of the key job 7/)]],
    ['follow each other', 3_000, []],
  ])('%s', (_, startedAt, found) => {
    const witness = witnessOf([first, { runId: 's', startedAt, endedAt: 4_000 }], definition)
    expect(overlappingRuns(recordOf(runs), witness)).toEqual(found)
  })
})
