/** What each page of the dashboard asks of the API, with what is frequent there and what is rare. */
import { writeToken } from '../../src/client/paging.js'
import { FIRST_ID } from '../../src/store/queries/ledger.js'
import { BUSY } from './fill.js'

export interface Call {
  /** What is asked, in words. */
  what: string
  /** Under `/api/v1`. */
  path: string
  /** Of one that is a POST; it changes nothing. */
  body?: unknown
  /** It is work that somebody asked for, with its progress shown, and no part of a page: it has no budget. */
  isWork?: true
  /** How the database carries it out, in words: such a one has its plans in docs/dashboard-plans.md. */
  plan?: string
}

export interface PageOfCalls {
  page: string
  calls: readonly Call[]
}

/** Some that there are, as of the fill. */
export interface Known {
  /** A schedule like most, of which there are runs, and one of its runs. */
  schedule: string
  scheduleId: string
  run: string
  failedRun: string
  /** Of one in `BUSY`. */
  busyId: string
  /** In the middle of all names. */
  middleName: string
  /** When the database was filled: what is past is asked for before this. */
  filledAt: Date
  /** What is to come is asked for from here on. */
  openedAt: Date
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const AUDITED = 250

const query = (path: string, values: Readonly<Record<string, string | number>>) =>
  `${path}?${Object.entries(values)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')}`

export function callsOf(known: Known): PageOfCalls[] {
  return [
    { page: 'every page', calls: SHELL },
    { page: 'overview', calls: overview(known) },
    { page: 'schedules', calls: schedules(known) },
    { page: 'one schedule', calls: oneSchedule(known.schedule, known) },
    { page: 'one schedule with 100,000 runs', calls: oneSchedule(BUSY[0], known) },
    { page: 'runs', calls: runs(known) },
    { page: 'one run', calls: oneRun(known) },
    { page: 'calendar', calls: calendar(known) },
    {
      page: 'transitions',
      calls: [{ what: 'transitions, a table of 1,000,000 rows', path: '/transitions', plan: TRANSITIONS }],
    },
    { page: 'workers', calls: WORKERS },
    { page: 'tokens', calls: [{ what: 'tokens', path: query('/tokens', { limit: 50 }) }] },
    { page: 'audit', calls: audit(known) },
  ]
}

const TRANSITIONS = 'For each field the partial index of what is due: rows that are done are not in it.'

const SHELL: readonly Call[] = [
  { what: 'who is logged in', path: '/session' },
  { what: 'claiming', path: '/claiming' },
]

const overview = ({ filledAt, openedAt }: Known): Call[] => [
  {
    what: 'figures',
    path: '/stats',
    plan: 'Each figure by an index of its own, and none counts on without an end.',
  },
  {
    what: 'queues',
    path: '/queues',
    plan: 'All open runs once, by the table itself: there are few beside the ended ones.',
  },
  { what: 'workers', path: '/workers' },
  {
    what: 'forecast of an hour by minutes',
    path: query('/forecast', { from: new Date(floor(openedAt, 60_000)).toISOString(), bucket: '1 minute' }),
    plan: 'Those due first by `cursors_for_waking`, and of the schedules a sample: what it finds stands for all.',
  },
  { what: 'throughput and lateness of an hour', path: '/stats/history' },
  {
    what: 'throughput and lateness of a day',
    path: query('/stats/history', {
      from: new Date(filledAt.getTime() - DAY_MS).toISOString(),
      bucket: '15 minutes',
    }),
    plan: 'A row for each minute in which something happened: no run is read.',
  },
  {
    what: 'the last failures',
    path: query('/runs', { state: 'failed', limit: 6 }),
    plan: 'The newest entries of `runs_by_age` for that state.',
  },
]

const schedules = ({ middleName }: Known): Call[] => {
  const list = (what: string, filter: Record<string, string>, plan?: string): Call => ({
    what,
    path: query('/schedules', { ...filter, limit: 50 }),
    ...(plan !== undefined && { plan }),
  })
  const count = (what: string, filter: Record<string, string>, plan?: string): Call => ({
    what,
    path: '/schedules/pause',
    body: { filter, dryRun: true },
    ...(plan !== undefined && { plan }),
  })
  const from = (what: string, filter: Record<string, string>, name: string, plan?: string): Call =>
    list(what, { ...filter, pageToken: writeToken({ list: 'schedules', filter }, ['0', name]) }, plan)
  return [
    list('first page', {}, 'The first names in their index, and each row by its key.'),
    from(
      'from the middle on',
      {},
      middleName,
      'The same from a name on: a token is a place in the index, so that no page before it is read.',
    ),
    list(
      'first page, with what became of the last thirty plan times of each',
      { recent: '30' },
      'The page, and for each of its schedules the newest entries of `runs_history` and `skips_history`.',
    ),
    list('group of 100,000, with the same', { group: 'europe', recent: '30' }),
    list('state active', { state: 'active' }),
    list('state paused, 4%', { state: 'paused' }),
    list(
      'state broken, 500',
      { state: 'broken' },
      'By `schedules_by_state`, in which each state is in the order of names.',
    ),
    list('state finished', { state: 'finished' }),
    list('group of 100,000', { group: 'europe' }),
    from('group of 100,000, from the middle on', { group: 'europe' }, middleName),
    list('group of twenty', { group: 'tenant-777' }),
    list('job, a quarter', { job: 'send-report' }),
    list('job, fifty', { job: 'close-books' }),
    list('group and state', { group: 'europe', state: 'paused' }),
    list('group, job and state', { group: 'europe', job: 'sync-orders', state: 'paused' }),
    list('group, and a job that is rare there', { group: 'europe', job: 'close-books' }),
    list(
      'one word, of one schedule',
      { q: '765432' },
      'Looks at 400 names, asks the planner how many have it, then the index of words.',
    ),
    list('one word, of none', { q: 'xylophone' }),
    list('one word, of nearly half', { q: 'tenant' }),
    list(
      'one word, in each twelfth',
      { q: 'bakery' },
      'Many have it, so that the first 400 names hold enough of them.',
    ),
    list('the beginning of names', { q: 'sync:' }),
    list(
      'one word, of an eighth that come last',
      { q: 'warehouse' },
      'Found by the index of words: 100,000 have it, and the rows of all of them are read once.',
    ),
    list('the same in capitals', { q: 'SYNC' }),
    list('two words, both frequent', { q: 'bakery lyon' }),
    list('two words, one of them rare', { q: 'orders 765432' }),
    list('two words, of an eighth that come last', { q: 'orders warehouse' }),
    list('a word of an eighth that come last, and a state', { q: 'warehouse', state: 'paused' }),
    list('a word that is frequent, and the state broken', { q: 'invoices', state: 'broken' }),
    list('a letter', { q: 's' }),
    count('how many there are to pause', {}),
    count('how many there are to pause in a group of 100,000', { group: 'europe' }),
    count(
      'how many there are to pause of an eighth that have a word',
      { q: 'warehouse' },
      'The rows of all that have it, by the index of words.',
    ),
  ]
}

const oneSchedule = (name: string, { filledAt }: Known): Call[] => {
  const of = `/schedules/${encodeURIComponent(name)}`
  const range = (fromMs: number, toMs: number) => ({
    from: new Date(filledAt.getTime() + fromMs).toISOString(),
    to: new Date(filledAt.getTime() + toMs).toISOString(),
  })
  const isBusy = name === BUSY[0]
  return [
    { what: 'the schedule', path: of },
    {
      what: 'history',
      path: query(`${of}/history`, { limit: 50 }),
      ...(isBusy && { plan: 'The newest entries of `runs_history` and `skips_history`, joined in order.' }),
    },
    {
      what: 'timeline',
      path: query(`${of}/timeline`, { before: 30, after: 30 }),
      ...(isBusy && { plan: 'Decided plan times by the same two indexes; those to come are computed.' }),
    },
    {
      what: 'the run that is open',
      path: query('/runs', { schedule: name, state: 'pending,running,retrying', limit: 1 }),
    },
    {
      what: 'history of a week ago',
      path: query(`${of}/history`, { before: range(-7 * DAY_MS, 0).from, limit: 50 }),
    },
    {
      what: 'runs',
      path: query(`${of}/runs`, { limit: 50 }),
      ...(isBusy && { plan: 'By `runs_history`, newest first.' }),
    },
    { what: 'runs that failed', path: query('/runs', { schedule: name, state: 'failed', limit: 50 }) },
    isBusy
      ? {
          what: 'occurrences of an hour before and after',
          path: query(`${of}/occurrences`, range(-HOUR_MS, HOUR_MS)),
          plan: 'Runs and skips of a range of plan times, by the same two indexes.',
        }
      : {
          what: 'occurrences of a month before and after',
          path: query(`${of}/occurrences`, range(-30 * DAY_MS, 30 * DAY_MS)),
        },
    { what: 'changes', path: query(`${of}/changes`, { limit: 50 }) },
    { what: 'preview', path: query(`${of}/preview`, { count: 20 }) },
    { what: 'diff', path: `${of}/diff`, body: { fields: { timing: { kind: 'every', every: '2 hours' } } } },
  ]
}

const runs = ({ filledAt }: Known): Call[] => {
  const list = (what: string, filter: Record<string, string>, plan?: string): Call => ({
    what,
    path: query('/runs', { ...filter, limit: 50 }),
    ...(plan !== undefined && { plan }),
  })
  const at = (daysAgo: number) => new Date(filledAt.getTime() - daysAgo * DAY_MS)
  const from = (what: string, filter: Record<string, string>, days: number, plan?: string): Call => {
    const { state, ...rest } = filter
    const listed = { ...rest, ...(state !== undefined && { states: state.split(',').sort() }) }
    const pageToken = writeToken({ list: 'runs', filter: listed }, [String(at(days).getTime()), FIRST_ID])
    return list(what, { ...filter, pageToken }, plan)
  }
  const hour = { from: at(7).toISOString(), to: at(7 - 1 / 24).toISOString() }
  return [
    list('newest first', {}, 'The newest entries of `runs_by_time`, and each run by its key.'),
    from('from five days ago on', {}, 5),
    list(
      'succeeded',
      { state: 'succeeded' },
      'By `runs_by_age`, in which each state is in the order of its ends.',
    ),
    list('failed, 2%', { state: 'failed' }),
    from('failed, from five days ago on', { state: 'failed' }, 5),
    list('cancelled', { state: 'cancelled' }),
    list('skipped', { state: 'skipped' }),
    list('pending, 100,000', { state: 'pending' }, 'Looks at the newest 400 runs, then for the open ones.'),
    list('running', { state: 'running' }),
    list('retrying', { state: 'retrying' }),
    list('pending, running and retrying', { state: 'pending,running,retrying' }),
    list('running or failed', { state: 'running,failed' }),
    list('job, frequent', { job: 'send-report' }),
    list(
      'job, rare',
      { job: 'close-books' },
      'Looks at 400, 4,000 and 20,000 of the newest runs, and says where to go on.',
    ),
    list('job, none', { job: 'no-such-job' }),
    list('queue, frequent', { queue: 'mail' }),
    list('queue, rare', { queue: 'slow-exports' }),
    list('asked for directly', { trigger: 'direct' }),
    list('backfilled', { trigger: 'backfill' }),
    list('manual, none', { trigger: 'manual' }),
    list('an hour a week ago', hour),
    list('an hour a week ago, failed', { ...hour, state: 'failed' }),
    list('an hour a week ago, pending', { ...hour, state: 'pending' }),
    list('an hour a week ago, of a rare job', { ...hour, job: 'close-books' }),
    list('failed, of a job', { state: 'failed', job: 'import-feed' }),
    list(
      'failed, of a rare job',
      { state: 'failed', job: 'close-books' },
      'Looks at 400, 4,000 and 5,000 of those that failed last, each of which lies elsewhere among all runs.',
    ),
    list('failed, of a rare queue', { state: 'failed', queue: 'slow-exports' }),
    list('succeeded, of a rare job', { state: 'succeeded', job: 'close-books' }),
    list('pending, of a rare job', { state: 'pending', job: 'close-books' }),
    list('pending, of a queue and a job', { state: 'pending', queue: 'mail', job: 'send-report' }),
    list('of a schedule', { schedule: BUSY[1] }),
    list('of a schedule, failed', { schedule: BUSY[1], state: 'failed' }),
    list('of a schedule, cancelled, of a queue', { schedule: BUSY[1], state: 'cancelled', queue: 'default' }),
  ]
}

const oneRun = ({ run, failedRun }: Known): Call[] => [
  { what: 'one that succeeded', path: `/runs/${run}` },
  { what: 'one that failed, with attempts', path: `/runs/${failedRun}`, plan: 'Each part by its key.' },
]

const calendar = ({ openedAt }: Known): Call[] => {
  const from = floor(openedAt, HOUR_MS) + HOUR_MS
  const until = (ms: number) => ({
    from: new Date(from).toISOString(),
    to: new Date(from + ms).toISOString(),
  })
  return [
    {
      what: 'a week by hours',
      path: query('/forecast', { ...until(7 * DAY_MS), bucket: '1 hour', by: 'none' }),
      plan: 'The same sample of schedules, computed through the week.',
    },
    {
      what: 'what is planned in an hour',
      path: query('/forecast/schedules', { ...until(HOUR_MS), limit: 50 }),
      plan: 'By `cursors_for_waking`, from the beginning of the hour on.',
    },
  ]
}

const WORKERS: readonly Call[] = [
  { what: 'workers', path: '/workers' },
  { what: 'jobs', path: '/jobs' },
]

const audit = ({ scheduleId, busyId }: Known): Call[] => [
  { what: 'doctor', path: '/doctor', plan: 'Each look ends after so many rows.' },
  // As many as the page asks for at a time.
  { what: `audit of ${AUDITED} schedules`, path: query('/audit', { limit: AUDITED, pageToken: scheduleId }) },
  {
    what: 'audit of one with 100,000 runs',
    path: query('/audit', { limit: 1, pageToken: before(busyId) }),
    isWork: true,
  },
]

/** The id before this one. */
const before = (id: string) => {
  const number = BigInt(`0x${id.replaceAll('-', '')}`) - 1n
  return number
    .toString(16)
    .padStart(32, '0')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

const floor = (at: Date, ms: number) => Math.floor(at.getTime() / ms) * ms
