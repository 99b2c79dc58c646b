import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { claimRuns, releaseClaims } from '../../src/store/queries/claiming.js'
import { type Outcome, recordOutcomes } from '../../src/store/queries/outcomes.js'
import { createStore } from '../../src/store/store.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { sharedDatabase } from '../support/database.js'
import { openHarness } from '../support/harness.js'

const AT = Date.parse('2026-03-01T00:00:00Z')

/** Each handler's transaction is the only one that writes what it does. */
it('transactional runs that were asked for together do not stand in each other’s way', async () => {
  const h = await openHarness({ at: AT, worker: { concurrency: 10 } })
  h.job('careful', {
    transactional: true,
    retry: { attempts: 1 },
    async handler({ tx }) {
      await tx.query('set transaction isolation level repeatable read')
      await tx.query('select pg_sleep(0.01)')
    },
  })
  await h.runs.enqueueMany(
    'careful',
    Array.from({ length: 20 }, (_, input) => ({ input })),
  )
  await h.advance('1 second')
  expect((await h.runs.search({ state: 'succeeded' })).runs).toHaveLength(20)
})

/** Each on a connection of its own: what they cut, end, cancel and give back are the same few lots. */
it('lots that several claim, end, cancel and give back at once lose no run and double none', async () => {
  const h = await openHarness({ at: AT })
  h.job('noop', { handler: () => {} })
  const store = createStore(await sharedDatabase(), h.schema, createManualClock(AT))
  const asked = await h.runs.enqueueMany(
    'noop',
    Array.from({ length: 300 }, (_, input) => ({ input })),
  )
  const jobs = [
    {
      name: 'noop',
      leaseMs: 30_000,
      concurrency: null,
      concurrencyKey: null,
      retry: { attempts: 3 },
      onStale: 'retry' as const,
    },
  ]
  const succeeded: string[] = []
  const refused: string[] = []

  async function work(limit: number): Promise<void> {
    const workerId = randomUUID()
    for (let turn = 0; ; turn++) {
      const leaseToken = randomUUID()
      const rows = await claimRuns(store, { workerId, leaseToken, queues: ['default'], jobs, limit })
      if (rows.length === 0) return
      if (turn % 4 === 3) {
        await releaseClaims(store, [leaseToken])
        continue
      }
      const outcomes = rows.map(
        ({ id, lot_id }): Outcome => ({
          runId: id,
          lotId: lot_id,
          leaseToken,
          of: null,
          totals: null,
          state: 'succeeded',
          result: 'null',
        }),
      )
      // In two parts at once: both write the same lots.
      const parts = [0, 1].map((part) => outcomes.filter((_, index) => index % 2 === part))
      await Promise.all(
        parts.map(async (part) => {
          const { counted } = await recordOutcomes(store, part, [])
          part.forEach(({ runId }, index) => {
            ;(counted[index] ? succeeded : refused).push(runId)
          })
        }),
      )
    }
  }

  const cancelled: string[] = []
  async function cancel(from: number): Promise<void> {
    for (let index = from; index < asked.length; index += 20) {
      const { id } = asked[index]!
      await h.runs.cancel(id).then(
        () => cancelled.push(id),
        (error) => expect(error).toMatchObject({ code: 'run_not_open' }),
      )
    }
  }

  await Promise.all([work(7), work(13), work(40), cancel(3), cancel(11)])
  await work(100)
  const ended = await store.query<{ id: string; state: string }>('select id, state from {schema}.runs_ended')
  const idsIn = (state: string) =>
    ended
      .filter((run) => run.state === state)
      .map(({ id }) => id)
      .sort()
  expect(idsIn('succeeded')).toEqual(succeeded.sort())
  expect(idsIn('cancelled')).toEqual(cancelled.sort())
  expect(ended).toHaveLength(300)
  expect(refused.every((id) => cancelled.includes(id))).toBe(true)
  expect(await store.query('select from {schema}.runs_at_hand')).toEqual([])
})
