import type { Command } from 'commander'
import { hostNow } from '../../clock.js'
import type { HttpClient, Result } from '../../http-client/index.js'
import { formatCard } from '../card.js'
import { colours } from '../colours.js'
import { type ConnectionFlags, withConnection, withConnectionFlags } from '../connection.js'
import { distance, localTime } from '../local-time.js'
import { examples, type JsonFlag, show, withJsonFlag } from '../output.js'
import { formatTable } from '../table.js'
import { describeClaiming } from './claiming.js'

export function addStatus(program: Command): void {
  const status = read(program, 'status', async (client) => {
    const [stats, queues, workers] = await Promise.all([client.stats(), client.queues(), client.workers()])
    return { value: { stats, ...queues, ...workers }, text: () => describeStatus(stats, queues, workers) }
  })
  status
    .summary('say on one screen how things stand')
    .description('Says how many schedules and runs there are, what waits and for how long, and who works.')
}

export function addJobs(program: Command): void {
  const jobs = read(program, 'jobs', async (client) => {
    const { jobs } = await client.jobs()
    return { value: jobs, text: () => formatJobs(jobs) }
  })
  jobs
    .summary('list jobs')
    .description('Lists the jobs that workers have published, with their policies and who has them.')
}

export function addWorkers(program: Command): void {
  const workers = read(program, 'workers', async (client) => {
    const { workers } = await client.workers()
    return { value: workers, text: () => formatWorkers(workers) }
  })
  workers.summary('list workers').description('Lists the processes that work, or did until lately.')
}

export function addQueues(program: Command): void {
  const queues = read(program, 'queues', async (client) => {
    const { queues } = await client.queues()
    return { value: queues, text: () => formatQueues(queues) }
  })
  queues
    .summary('list queues')
    .description(
      'Lists the queues that have open runs: what is ready, what waits, and how long the oldest has.',
    )
}

/** A command that asks one thing and shows it. */
function read(
  program: Command,
  name: string,
  ask: (client: HttpClient) => Promise<{ value: unknown; text: () => string }>,
): Command {
  return withJsonFlag(withConnectionFlags(program.command(name)))
    .addHelpText(
      'after',
      examples(`escapement ${name}`, `escapement ${name} --json --database postgres://app@localhost/app`),
    )
    .action((flags: ConnectionFlags & JsonFlag, command: Command) =>
      withConnection(flags, command, async (client) => {
        const { value, text } = await ask(client)
        show(flags, value, text)
      }),
    )
}

type Workers = Result<'listWorkers'>['workers']

function formatWorkers(workers: Workers): string {
  if (workers.length === 0) return 'Nobody works. Start a worker with: escapement up, or escapement worker'
  const rows = workers.map(({ host, pid, version, state, running, concurrency, queues, jobs, seenAt }) => [
    `${host}:${pid}`,
    state === 'alive' ? colours.green(state) : colours.red(state),
    `${running}/${concurrency}`,
    queues.join(', '),
    jobs.length > 3 ? `${jobs.slice(0, 3).join(', ')} +${jobs.length - 3}` : jobs.join(', '),
    version,
    since(seenAt),
  ])
  return formatTable(['WORKER', 'STATE', 'RUNNING', 'QUEUES', 'JOBS', 'VERSION', 'SEEN'], rows)
}

function formatJobs(jobs: Result<'listJobs'>['jobs']): string {
  if (jobs.length === 0)
    return 'No worker has published a job yet. Jobs come from escapement.config.ts, or from your code.'
  const rows = jobs.map((job) => {
    const alive = job.workers.filter(({ isAlive }) => isAlive).length
    const { attempts } = job.retry as { attempts?: number }
    return [
      job.name,
      alive > 0 ? colours.green(`${alive} working`) : colours.red('nobody'),
      String(attempts ?? '–'),
      seconds(job.timeoutMs),
      job.concurrency === null ? 'any' : String(job.concurrency),
      notesOf(job),
    ]
  })
  return formatTable(['NAME', 'WORKERS', 'ATTEMPTS', 'TIMEOUT', 'AT ONCE', 'NOTES'], rows)
}

function notesOf(job: Result<'listJobs'>['jobs'][number]): string {
  return [
    job.transactional && 'transactional',
    job.gate && 'gate',
    job.provider && 'gives scopes',
    job.onStale === 'fail' && 'at most once',
    job.concurrencyKey && `one per ${job.concurrencyKey.join('.')}`,
    job.inputSchema !== null && 'checks its input',
  ]
    .filter(Boolean)
    .join(', ')
}

function formatQueues(queues: Result<'listQueues'>['queues']): string {
  if (queues.length === 0) return 'No run is open.'
  const rows = queues.map(({ name, ready, waiting, retrying, running, oldestReadyAt }) => [
    name,
    ...[ready, waiting, retrying, running].map((count) => count.toLocaleString('en')),
    oldestReadyAt === null ? '–' : since(oldestReadyAt),
  ])
  return formatTable(['QUEUE', 'READY', 'WAITING', 'RETRYING', 'RUNNING', 'OLDEST'], rows)
}

function describeStatus(
  stats: Result<'getStats'>,
  { queues }: Result<'listQueues'>,
  { workers }: Result<'listWorkers'>,
): string {
  const { schedules, open, ended, overdue, lateness, database } = stats
  const alive = workers.filter(({ state }) => state === 'alive').length
  const count = (value: number) => value.toLocaleString('en')
  const ready = queues.reduce((sum, queue) => sum + queue.ready, 0)
  const oldest = queues.flatMap(({ oldestReadyAt }) => oldestReadyAt ?? []).sort()[0]
  const kind = database.kind === 'pglite' ? 'embedded PostgreSQL' : 'PostgreSQL'
  const ends = ({ succeeded, failed, cancelled, skipped }: typeof ended.lastHour) =>
    [
      `${count(succeeded)} succeeded`,
      failed > 0 ? colours.red(`${count(failed)} failed`) : '0 failed',
      cancelled > 0 && `${count(cancelled)} cancelled`,
      skipped > 0 && `${count(skipped)} skipped`,
    ]
      .filter(Boolean)
      .join(', ')
  return formatCard(`${kind} ${database.version}, schema "${database.schema}"`, [
    ['claiming', describeClaiming(stats.claiming)],
    [
      'schedules',
      [
        `${count(schedules.active)} active`,
        `${count(schedules.paused)} paused`,
        schedules.broken > 0 ? colours.red(`${count(schedules.broken)} broken`) : '0 broken',
        `${count(schedules.finished)} finished`,
      ].join(', '),
    ],
    [
      'overdue',
      overdue.schedules === 0
        ? 'none'
        : colours.red(`${count(overdue.schedules)} schedules, since ${localTime(overdue.since!)}`),
    ],
    [
      'open runs',
      `${count(open.pending)} pending, ${count(open.running)} running, ${count(open.retrying)} retrying`,
    ],
    [
      'ready',
      oldest === undefined ? 'none waits for a worker' : `${count(ready)}, the oldest since ${since(oldest)}`,
    ],
    ['last hour', ends(ended.lastHour)],
    ['last day', ends(ended.lastDay)],
    [
      'lateness',
      lateness &&
        `p50 ${lateness.p50.toFixed(0)} ms, p99 ${lateness.p99.toFixed(0)} ms of the last ${count(lateness.runs)} runs`,
    ],
    [
      'workers',
      alive === 0
        ? colours.red('none')
        : `${alive} alive${alive < workers.length ? `, ${workers.length - alive} lost` : ''}`,
    ],
  ])
}

function since(instant: string): string {
  return distance(Date.parse(instant) - hostNow())
}

function seconds(ms: number): string {
  return ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1_000} s`
}
