import { after, cron, type Escapement, every, once } from '../../src/index.js'
import type { SimulatedHost, SimulationEnd, SimulationOptions } from '../../src/testing/index.js'

const ENDS_AT = '2026-03-29T01:04:00Z'

/** Several times as often as by default: these histories are short. */
const HEAVY = {
  crash: 0.01,
  connection: 0.03,
  delay: 0.01,
  freeze: 0.004,
  restart: 0.003,
  notification: 0.3,
}

/** A few schedules of each kind around a change of the clock, with jobs that fail, take long, or write: little time, and much in it. */
export function smallSystem(seed: number): SimulationOptions {
  return {
    seed,
    at: '2026-03-29T00:56:00Z',
    during: '8 minutes',
    processes: seed % 4 === 0 ? 3 : 2,
    faults: HEAVY,
    verbs: { every: '40 seconds' },
    options: { scheduler: { retention: false } },
    define,
    arrange,
    check,
  }
}

function define(escapement: Escapement, host: SimulatedHost): void {
  escapement.job('unlucky', {
    retry: { attempts: 3, backoff: { first: '1 minute', jitter: 0.5 } },
    handler() {
      if (host.chance() < 0.2) throw new Error('bad luck')
    },
  })
  escapement.job('slow', {
    concurrency: 1,
    handler: ({ signal }) => host.work({ seconds: Math.floor(host.chance() * 45) }, signal),
  })
  escapement.job('once', {
    onStale: 'fail',
    retry: { attempts: 1 },
    handler: ({ signal }) => host.work({ seconds: Math.floor(host.chance() * 10) }, signal),
  })
  escapement.job('count', {
    transactional: true,
    async handler({ run, tx, signal }) {
      await tx.query('insert into counted (run) values ($1)', [run.id])
      await host.work({ seconds: Math.floor(host.chance() * 5) }, signal)
    },
  })
}

async function arrange({ database, schedules }: Escapement): Promise<void> {
  await database.query('drop table if exists counted')
  await database.query('create table counted (run uuid)')
  const zone = 'Europe/Paris'
  // No later than the faults: else there would be more to do for as long as it takes to do the rest.
  const endAt = ENDS_AT
  await schedules.put('unlucky', { job: 'unlucky', timing: every('2 minutes'), catchUp: 'all', endAt })
  await schedules.put('slow', {
    job: 'slow',
    timing: every('3 minutes'),
    overlap: 'queue',
    scopes: ['a', 'b'],
    endAt,
  })
  await schedules.put('nightly', { job: 'once', timing: cron('2 2 * * *', { zone }) })
  await schedules.put('often', { job: 'once', timing: cron('*/4 * * * *', { zone }), endAt })
  await schedules.put('chain', { job: 'count', timing: after('2 minutes'), endAt })
  await schedules.put('at-one', { job: 'count', timing: once('2026-03-29T01:00:00Z') })
}

/** The writes of a transactional job happen exactly once. */
async function check({ escapement }: SimulationEnd): Promise<void> {
  const { runs } = await escapement.runs.search({ job: 'count', state: 'succeeded', limit: 1_000 })
  const counted = await escapement.database.query<{ run: string }>('select run from counted')
  const expected = runs.map(({ id }) => id).sort()
  const found = counted.map(({ run }) => run).sort()
  if (JSON.stringify(found) !== JSON.stringify(expected)) {
    throw new Error(`counted ${found.join(', ')} instead of ${expected.join(', ')}`)
  }
}
