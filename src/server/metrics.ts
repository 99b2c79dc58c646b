/**
 * What this process did and how things stand, for Prometheus, in a registry of its own. What it did is counted as it is told;
 * how things stand is read when it is asked for.
 */
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import { NAMED_QUEUES } from '../client/gauges.js'
import type { Escapement } from '../escapement.js'
import { createLabels } from './metric-labels.js'
import { createStandings } from './standings.js'

export interface Metrics {
  readonly contentType: string
  /** Those who ask at the same time share one answer. Without the database it has what this process knows by itself. */
  text(): Promise<string>
  /** Counts no more. */
  close(): void
}

const LATENESS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600]
const ATTEMPT_SECONDS = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600]
/** Of what should take milliseconds. */
const STATEMENT_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15]
/** Jobs are named in code; what others ask for by name need not be. */
const NAMED_JOBS = 200

export function createMetrics(escapement: Pick<Escapement, 'on' | 'gauges' | 'health'>): Metrics {
  const { registry, standings, ends } = createInstruments(escapement)
  let scrape: Promise<string> | undefined

  async function collect(): Promise<string> {
    standings.show(await escapement.gauges(), escapement.health())
    return Registry.merge([registry, processRegistry()]).metrics()
  }

  return {
    contentType: registry.contentType,
    text() {
      scrape ??= collect().finally(() => {
        scrape = undefined
      })
      return scrape
    },
    close() {
      for (const end of ends) end()
    },
  }
}

/** All that is counted and read, in a registry of its own. */
export function createInstruments(escapement: Pick<Escapement, 'on'>) {
  const registry = new Registry()
  const ends = countWork(escapement, [registry])
  return { registry, ends, standings: createStandings([registry]) }
}

export interface MetricsOnDemand {
  respond(): Promise<Response>
  close(): void
}

/** From the first scrape on: nothing is counted where nobody looks. */
export function metricsOnDemand(escapement: Parameters<typeof createMetrics>[0]): MetricsOnDemand {
  let metrics: Metrics | undefined
  return {
    async respond() {
      metrics ??= createMetrics(escapement)
      return new Response(await metrics.text(), { headers: { 'content-type': metrics.contentType } })
    },
    close: () => metrics?.close(),
  }
}

/** Counts and measures what this process tells of its work. Returns what ends it. */
function countWork({ on }: Pick<Escapement, 'on'>, registers: Registry[]): (() => void)[] {
  const jobOf = createLabels(NAMED_JOBS)
  const queueOf = createLabels(NAMED_QUEUES)

  const lateness = new Histogram({
    name: 'escapement_run_lateness_seconds',
    help: 'From the time a run may be claimed to the claim of its first attempt. Where it grows, add workers or concurrency; waiting behind an earlier run of its schedule or for a limit counts too.',
    labelNames: ['queue'],
    buckets: LATENESS_SECONDS,
    registers,
  })
  const ended = new Counter({
    name: 'escapement_runs_ended_total',
    help: 'Runs that this process has ended. Alert on those that failed: their attempts are used up, and only an operator tries them again.',
    labelNames: ['job', 'state'],
    registers,
  })
  const retried = new Counter({
    name: 'escapement_runs_retried_total',
    help: 'Attempts that failed and are followed by another. A rising share says that something a job depends on is ailing.',
    labelNames: ['job'],
    registers,
  })
  const attempt = new Histogram({
    name: 'escapement_attempt_duration_seconds',
    help: 'How long attempts took until their outcome was written down. Near the timeout of the job, raise that or make the job smaller.',
    labelNames: ['job'],
    buckets: ATTEMPT_SECONDS,
    registers,
  })
  const tick = new Histogram({
    name: 'escapement_tick_duration_seconds',
    help: 'How long ticks took. Seconds say that the database is slow, or that scheduler.batch is too large for it.',
    buckets: STATEMENT_SECONDS,
    registers,
  })
  const tickSchedules = new Counter({
    name: 'escapement_tick_schedules_total',
    help: 'Due schedules that ticks of this process have decided.',
    registers,
  })
  const tickRuns = new Counter({
    name: 'escapement_tick_runs_total',
    help: 'Runs that ticks of this process have made.',
    registers,
  })
  const claim = new Histogram({
    name: 'escapement_claim_duration_seconds',
    help: 'How long claims took. Where they take longer than attempts, raise worker.concurrency: a claim then takes more at once.',
    buckets: STATEMENT_SECONDS,
    registers,
  })
  const claimed = new Counter({
    name: 'escapement_claimed_runs_total',
    help: 'Runs that claims of this process have taken.',
    registers,
  })
  const leasesLost = new Counter({
    name: 'escapement_leases_lost_total',
    help: 'Attempts whose lease was lost, and which somebody else makes again. Look for handlers that block the event loop, and for an overloaded database.',
    registers,
  })
  const sweep = new Histogram({
    name: 'escapement_sweep_duration_seconds',
    help: 'How long sweeps of all declared tables took.',
    buckets: STATEMENT_SECONDS,
    registers,
  })
  const sweptRows = new Counter({
    name: 'escapement_swept_rows_total',
    help: 'Rows that sweeps of this process have updated, deleted, or set aside because they cannot be changed: see escapement doctor.',
    labelNames: ['result'],
    registers,
  })

  return [
    on('run.ended', ({ job: name, state, durationMs }) => {
      const job = jobOf(name)
      if (state === 'retrying') retried.inc({ job })
      else ended.inc({ job, state })
      if (durationMs !== null) attempt.observe({ job }, durationMs / 1000)
    }),
    on('worker.claimed', ({ durationMs, runs }) => {
      if (durationMs !== null) claim.observe(durationMs / 1000)
      claimed.inc(runs.length)
      for (const run of runs) {
        if (run.attempt === 1) lateness.observe({ queue: queueOf(run.queue) }, run.latenessMs / 1000)
      }
    }),
    on('worker.leaseLost', () => leasesLost.inc()),
    on('scheduler.ticked', ({ durationMs, schedules, runs }) => {
      tick.observe(durationMs / 1000)
      tickSchedules.inc(schedules)
      tickRuns.inc(runs)
    }),
    on('sweeper.swept', ({ durationMs, ...rows }) => {
      sweep.observe(durationMs / 1000)
      for (const result of ['updated', 'deleted', 'quarantined'] as const) {
        sweptRows.inc({ result }, rows[result])
      }
    }),
  ]
}

let ofProcess: Registry | undefined

/** Memory, processor, event loop and garbage collection: one for all, as prom-client cannot stop measuring these. */
function processRegistry(): Registry {
  if (!ofProcess) {
    ofProcess = new Registry()
    collectDefaultMetrics({ register: ofProcess })
  }
  return ofProcess
}
