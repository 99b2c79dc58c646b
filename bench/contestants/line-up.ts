/**
 * A queue, how it is driven, and with what settings. They follow the peers' own advice for throughput; only a few values
 * of each were tried, on a noisy machine.
 */
export interface Entry {
  name: string
  /** Below `bench`. */
  file: string
  server: 'PostgreSQL' | 'Redis that syncs each write' | 'Redis as it comes'
  settings: string
}

const OURS: Entry = {
  name: 'escapement',
  file: 'contestants/escapement.mjs',
  server: 'PostgreSQL',
  settings: 'enqueueMany; concurrency 1,000, for single runs 10; pools of 5 and 10; keeps history',
}

const LIMIT: Entry = {
  name: 'hand-written SQL',
  file: 'contestants/hand-written.mjs',
  server: 'PostgreSQL',
  settings:
    'one table, no retries, no renewals; claims 1,000 by `skip locked` while the 1,000 before are completed by `unnest`, fenced by a token; a notification with each insert; named statements; sequential scans, hash and merge joins switched off; pool of 25; keeps history',
}

const PEERS: readonly Entry[] = [
  {
    name: 'graphile-worker',
    file: 'peers/graphile-worker.mjs',
    server: 'PostgreSQL',
    settings:
      '`addJobs`; `concurrentJobs` 100, `localQueue` of 1,000 with a `refetchDelay` of 10 ms, for single runs 10 and 11 without delay; `completeJobBatchDelay` 0; pool of 25; deletes what is done',
  },
  {
    name: 'pg-boss',
    file: 'peers/pg-boss.mjs',
    server: 'PostgreSQL',
    settings:
      '`insert`; partitioned queue with `notify` and `useListenNotify`; `batchSize` 1,000, `burstWhenBatchFull`, `localConcurrency` 2, for single runs a batch of 10; pool of 25; keeps history',
  },
]

const BULLMQ = {
  file: 'peers/bullmq.mjs',
  settings: '`addBulk`; `concurrency` 500, for single runs 10; `removeOnComplete`: deletes what is done',
}

const ON_REDIS: readonly Entry[] = [
  { ...BULLMQ, name: 'BullMQ, `appendfsync always`', server: 'Redis that syncs each write' },
  { ...BULLMQ, name: 'BullMQ, Redis as it comes', server: 'Redis as it comes' },
]

/** Ours first: the table compares the others with it. */
export function lineUp({ peers, redis }: { peers: boolean; redis: boolean }): Entry[] {
  return [OURS, LIMIT, ...(peers ? PEERS : []), ...(redis ? ON_REDIS : [])]
}
