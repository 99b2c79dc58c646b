import { after, cron, type Escapement, every, once, rrule, set } from '../../src/index.js'
import type { SimulatedHost, SimulationOptions } from '../../src/testing/index.js'
import { check, FAILURES, LIMIT } from './small-checks.js'

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

/**
 * A few schedules of each kind around a change of the clock, with jobs that fail, take long, or write, and rows that change when their
 * time comes: little time, and much in it.
 */
export function smallSystem(seed: number): SimulationOptions {
  return {
    seed,
    at: '2026-03-29T00:57:00Z',
    during: '7 minutes',
    processes: seed % 4 === 0 ? 3 : 2,
    faults: HEAVY,
    verbs: { every: '40 seconds' },
    options: { scheduler: { retention: false } },
    define,
    arrange,
    check,
  }
}

async function define(escapement: Escapement, host: SimulatedHost): Promise<void> {
  escapement.job('unlucky', {
    retry: { attempts: 3, backoff: { first: '1 minute', jitter: 0.5 } },
    handler() {
      if (host.chance() < 0.2) throw new Error('bad luck')
    },
  })
  // Fewer than there are scopes, and more than one: neither limit nor lanes do the work of the other.
  escapement.job('slow', {
    concurrency: 2,
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
  escapement.job('doomed', {
    retry: { attempts: 1 },
    handler() {
      throw new Error('as always')
    },
  })
  // Together they wait in a lot, and each of them may be taken out of it.
  escapement.job('several', {
    async handler() {
      for (const job of ['unlucky', 'once', 'slow']) {
        await escapement.runs.enqueueMany(job, [{ input: 1 }, { input: 2 }, { input: 3 }])
      }
    },
  })
  // Whoever looks on defines before anything is arranged; the tables stay from seed to seed.
  if (host.process === 'observer') await createTables(escapement)
  await escapement.transitions.declare('posts', {
    fields: {
      publish_at: set('status', { from: 'draft', to: 'published' }),
      archive_at: set('status', { from: 'published', to: 'archived' }),
    },
  })
}

async function createTables({ database }: Escapement): Promise<void> {
  await database.query('create table if not exists counted (run uuid)')
  await database.query(
    'create table if not exists posts (id int primary key, status text, publish_at timestamptz, archive_at timestamptz)',
  )
}

async function arrange({ database, schedules }: Escapement): Promise<void> {
  await database.query('truncate counted, posts')
  await database.query(
    `insert into posts values (1, 'draft', '2026-03-29T00:57:30Z', null), (2, 'draft', '2026-03-29T01:00:10Z', '2026-03-29T01:00:20Z'),
       (3, 'draft', '2026-03-29T01:03:00Z', '2026-03-29T01:02:00Z'), (4, 'draft', null, '2026-03-29T01:00:00Z')`,
  )
  const zone = 'Europe/Paris'
  // No later than the faults: else there would be more to do for as long as it takes to do the rest.
  const endAt = ENDS_AT
  await schedules.put('unlucky', { job: 'unlucky', timing: every('2 minutes'), catchUp: 'all', endAt })
  await schedules.put('slow', {
    job: 'slow',
    timing: every('3 minutes'),
    overlap: 'queue',
    scopes: ['a', 'b', 'c'],
    endAt,
  })
  await schedules.put('nightly', { job: 'once', timing: cron('2 2 * * *', { zone }) })
  await schedules.put('often', { job: 'once', timing: cron('*/4 * * * *', { zone }), endAt })
  // Without an end: one that has ended may as well have died before.
  await schedules.put('chain', { job: 'count', timing: after('2 minutes') })
  await schedules.put('at-one', { job: 'count', timing: once('2026-03-29T01:00:00Z') })
  await schedules.put('doomed', {
    job: 'doomed',
    timing: rrule('FREQ=SECONDLY;INTERVAL=75', { zone }),
    breaker: { failures: FAILURES, cooldown: '2 minutes' },
    endAt,
  })
  await schedules.put('several', { job: 'several', timing: every('4 minutes'), endAt })
  await schedules.put('limited', { job: 'unlucky', timing: every('90 seconds'), limit: LIMIT })
}
