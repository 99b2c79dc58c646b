import fs from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FORECAST_DEFAULTS } from './client/forecast.js'
import { PLANNED_DEFAULTS } from './client/planned.js'
import { RUN_SEARCH_DEFAULTS } from './client/run-search.js'
import { CHANGES_DEFAULTS, LIST_DEFAULTS } from './client/schedules.js'
import { SEARCH_DEFAULTS } from './client/searching.js'
import { SYNC_DEFAULTS } from './client/sync.js'
import { TIMELINE_DEFAULTS } from './client/timeline.js'
import { HTTP_CLIENT_DEFAULTS } from './http-client/transport.js'
import { HTTP_JOB_DEFAULTS } from './http-job/options.js'
import { ESCAPEMENT_DEFAULTS, readOptions, readRoles, START_DEFAULTS } from './options.js'
import { JOB_DEFAULTS } from './runs/job.js'
import { NOTIFICATION_DEFAULTS } from './runs/notification.js'
import { RETRY_DEFAULTS } from './runs/retry-delay.js'
import { SCHEDULER_DEFAULTS } from './scheduler/scheduler.js'
import { POLICY_DEFAULTS } from './schedules/policies.js'
import { EVENT_HUB_DEFAULTS } from './server/event-hub.js'
import { LISTEN_DEFAULTS } from './server/listen.js'
import { HANDLER_DEFAULTS } from './server/options.js'
import { SERVE_DEFAULTS } from './server/serve.js'
import { SWEEP_DEFAULTS, SWEEPER_DEFAULTS } from './sweeper/sweeper.js'
import { SIMULATED_VERBS_DEFAULTS, SIMULATION_DEFAULTS } from './testing/simulate.js'
import { FAULT_DEFAULTS } from './testing/simulation/faults.js'
import { WORKER_DEFAULTS } from './worker/worker.js'

describe('readOptions', () => {
  it('reports every mistake at once, with what was meant', () => {
    const wrong = {
      databse: 'x',
      schema: 'pg_mine',
      pooler: 'yes',
      scheduler: { batch: 0, size: 1, retention: { failed: 'long', suceeded: '1 day' } },
      worker: { concurency: 1, concurrency: 1e30, queues: [], drain: '30 days' },
      notify: [{ on: ['run.failed'] }],
    }
    expect(() => readOptions(wrong as never)).toThrowError(
      [
        'databse: unknown option (did you mean "database"?)',
        'scheduler.size: unknown option',
        'worker.concurency: unknown option (did you mean "concurrency"?)',
        'scheduler.retention.suceeded: unknown option (did you mean "succeeded"?)',
        `scheduler.retention.failed: "long" – is not a duration such as '90s', '15 minutes', '1 hour 30 minutes' or 'P1M'`,
        'notify[0].job: undefined – must be a job or the name of one',
        'pooler: "yes" – must be true, false or "detect"',
        'schema: "pg_mine" – names that begin with pg_ belong to PostgreSQL',
        'scheduler.batch: 0 – must be a whole number from 1 to 2147483647',
        'worker.concurrency: 1e+30 – must be a whole number from 1 to 2147483647',
        'worker.drain: "30 days" – must be at most 24 days',
        'worker.queues: [] – must be a list of at least one queue',
      ].join('\n'),
    )
  })

  it.each(['', 'localhost', 'mysql://localhost/x', './folder', 'memory'])(
    'refuses %j as a database',
    (database) => {
      expect(() => readOptions({ database })).toThrowError(/^database: is not a PostgreSQL URL/)
    },
  )

  it.each([
    'memory:',
    'postgres://localhost/x',
    'postgres:///x?host=/tmp',
    'postgresql://me:p%40ss@db:5433/x?sslmode=require',
  ])('takes %j as a database', (database) => {
    expect(readOptions({ database }).database).toBe(database)
  })

  it.each(['memory:', { directory: 'x' }])('refuses a pooler before %j', (database) => {
    expect(() => readOptions({ database, pooler: true })).toThrowError(
      /^pooler: true – there is a pooler only/,
    )
    expect(readOptions({ database, pooler: false }).pooler).toBe(false)
  })

  it('takes a pooler before a server', () => {
    expect(readOptions({ database: 'postgres://localhost/x', pooler: true }).pooler).toBe(true)
    expect(() => readOptions({ database: 5 as never, pooler: true })).toThrowError(/^database: must be/)
  })

  it.each([{}, { directory: '' }, 5, null])('refuses %j as a database', (database) => {
    if (database === null) expect(readOptions({}).database).toEqual({ directory: './.escapement' })
    else expect(() => readOptions({ database: database as never })).toThrowError(/^database: must be/)
  })
})

describe('roles', () => {
  it.each([
    [
      { roles: ['wroker'] },
      'roles: "wroker" – must be "scheduler", "worker" or "sweeper" (did you mean "worker"?)',
    ],
    [{ roles: [] }, 'roles: [] – must be a list of at least one role'],
    [{ roles: 'worker' }, 'roles: "worker" – must be a list of at least one role'],
    [{ role: ['worker'] }, 'role: unknown option (did you mean "roles"?)'],
  ])('refuse %j, which would start nothing', (options, message) => {
    expect(() => readRoles(options as never)).toThrowError(message)
  })
})

describe('documented defaults', () => {
  it.each([
    ['options.ts', 'EscapementOptions', ESCAPEMENT_DEFAULTS],
    ['options.ts', 'StartOptions', START_DEFAULTS],
    ['client/schedules.ts', 'ListOptions', LIST_DEFAULTS],
    ['client/schedules.ts', 'ChangesOptions', CHANGES_DEFAULTS],
    ['client/timeline.ts', 'TimelineOptions', TIMELINE_DEFAULTS],
    ['client/searching.ts', 'SearchOptions', SEARCH_DEFAULTS],
    ['client/planned.ts', 'PlannedOptions', PLANNED_DEFAULTS],
    ['client/forecast.ts', 'ForecastOptions', FORECAST_DEFAULTS],
    ['client/run-search.ts', 'RunSearchOptions', RUN_SEARCH_DEFAULTS],
    ['client/sync.ts', 'SyncOptions', SYNC_DEFAULTS],
    ['schedules/policies.ts', 'PolicyFields', POLICY_DEFAULTS],
    ['runs/job.ts', 'JobDefinition', JOB_DEFAULTS],
    ['runs/retry-delay.ts', 'RetryPolicy', RETRY_DEFAULTS],
    ['runs/notification.ts', 'Notification', NOTIFICATION_DEFAULTS],
    ['scheduler/scheduler.ts', 'SchedulerOptions', SCHEDULER_DEFAULTS],
    ['worker/worker.ts', 'WorkerOptions', WORKER_DEFAULTS],
    ['sweeper/sweeper.ts', 'SweeperOptions', SWEEPER_DEFAULTS],
    ['sweeper/sweeper.ts', 'SweepOptions', SWEEP_DEFAULTS],
    ['server/event-hub.ts', 'EventHubOptions', EVENT_HUB_DEFAULTS],
    ['server/listen.ts', 'ListenOptions', LISTEN_DEFAULTS],
    ['server/options.ts', 'HandlerOptions', HANDLER_DEFAULTS],
    ['server/serve.ts', 'ServeOptions', SERVE_DEFAULTS],
    ['testing/simulate.ts', 'SimulationOptions', SIMULATION_DEFAULTS],
    ['testing/simulate.ts', 'SimulatedVerbOptions', SIMULATED_VERBS_DEFAULTS],
    ['testing/simulation/faults.ts', 'FaultRates', FAULT_DEFAULTS],
    ['http-job/options.ts', 'HttpJobOptions', HTTP_JOB_DEFAULTS],
    ['http-client/transport.ts', 'HttpClientOptions', HTTP_CLIENT_DEFAULTS],
  ])('%s: %s says what its constant holds', (file, name, constant) => {
    const source = fs.readFileSync(new URL(file, import.meta.url), 'utf8')
    const body = new RegExp(`interface ${name}\\b[^{]*\\{([\\s\\S]*?)\\n\\}`).exec(source)![1]!
    const documented = [...body.matchAll(/@default (.+?)(?: \*\/|\n[\s\S]*?\*\/)\s+(\w+)\??:/g)].map(
      ([, value, field]) => [field, new Function(`return (${value})`)()],
    )
    expect(Object.fromEntries(documented)).toEqual(constant)
  })
})
