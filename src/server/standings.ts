import { Gauge, type Registry } from 'prom-client'
import { type DatabaseGauges, type Gauges, NAMED_QUEUES } from '../client/gauges.js'
import type { Health } from '../client/health.js'
import { createLabels } from './metric-labels.js'

/** How things stand: each of these is set anew whenever the metrics are asked for. */
export interface Standings {
  show(gauges: Gauges, health: Health): void
}

export function createStandings(registers: Registry[]): Standings {
  const queueOf = createLabels(NAMED_QUEUES)
  const gauge = (name: string, labelNames: string[], help: string) =>
    new Gauge({ name: `escapement_${name}`, help, labelNames, registers })

  const databaseUp = gauge(
    'database_up',
    [],
    'Whether the database answered this scrape. While it is 0, what is read from it is missing here.',
  )
  const depth = gauge(
    'queue_depth',
    ['queue', 'state'],
    'Open runs: ready to be claimed, waiting for their time, blocked by an earlier run of their schedule, running, retrying. Of more than 50,000 in all those that do not run are estimated. The same in every process.',
  )
  const oldest = gauge(
    'queue_oldest_ready_seconds',
    ['queue'],
    'For how long the oldest run of a queue could have been claimed. Alert on it: no worker takes this queue or has the job, all are busy, or claiming is paused.',
  )
  const schedules = gauge(
    'schedules',
    ['state'],
    'Schedules by state. Alert on broken: they run no more until they are resumed or edited. Of more than 10,000 in a state they are estimated.',
  )
  const paused = gauge(
    'claiming_paused',
    [],
    'Whether claiming is paused in all processes, so that nothing is begun. Alert if it stays 1.',
  )
  const workers = gauge(
    'workers',
    [],
    'Workers of all processes that said within 15 seconds that they live. Alert on 0, and on fewer than you started.',
  )
  const connections = gauge(
    'pool_connections',
    ['pool', 'state'],
    'Connections of this process, idle and busy, for its loops and for its callers.',
  )
  const waiting = gauge(
    'pool_waiting',
    ['pool'],
    'Calls that wait for a connection. Where it stays above 0, handlers hold connections for too long, or there are too few.',
  )
  const stuck = gauge(
    'loop_stuck',
    ['loop'],
    'Whether a loop of this process is stuck, as /health says. Restart the process, and look at its log.',
  )

  /** What is not known must not look like 0. */
  function forget(): void {
    for (const labelled of [depth, oldest, schedules, stuck]) labelled.reset()
    for (const single of [paused, workers]) single.remove()
  }

  function showDatabase(shown: DatabaseGauges): void {
    for (const { queue, standing, runs } of shown.depths) {
      depth.inc({ queue: queueOf(queue), state: standing }, runs)
    }
    const seconds = new Map<string, number>()
    for (const one of shown.oldestReady) {
      const queue = queueOf(one.queue)
      seconds.set(queue, Math.max(one.seconds, seconds.get(queue) ?? 0))
    }
    for (const [queue, longest] of seconds) oldest.set({ queue }, longest)
    for (const one of shown.schedules) schedules.set({ state: one.state }, one.schedules)
    paused.set(shown.isClaimingPaused ? 1 : 0)
    workers.set(shown.workers)
  }

  return {
    show({ database, pools }, { loops }) {
      forget()
      databaseUp.set(database === null ? 0 : 1)
      if (database !== null) showDatabase(database)
      for (const { pool, idle, total, waiting: calls } of pools) {
        connections.set({ pool, state: 'idle' }, idle)
        connections.set({ pool, state: 'busy' }, total - idle)
        waiting.set({ pool }, calls)
      }
      for (const { loop, isStuck } of loops) stuck.set({ loop }, isStuck ? 1 : 0)
    },
  }
}
