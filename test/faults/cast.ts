/**
 * Who plays: the schedules that the users put, edit and delete, with what each of them may legally meet. Policies belong to the name,
 * so that the history of verbs needs to tell of timings and states only.
 */
import type { PolicyFields } from 'escapement'
import type { Random } from './random.js'

/** The instants of a timing, in terms of its own: the oracle reads these and nothing of `src`. */
export type Grid =
  | { kind: 'every'; seconds: number }
  | { kind: 'cron'; seconds: number; zone: string }
  | { kind: 'rrule'; seconds: number }
  | { kind: 'once'; at: number }
  | { kind: 'after'; seconds: number }

/** What a schedule is put with. The mark goes into its description, so that a look at it tells which content it has. */
export interface Content {
  mark: number
  grid: Grid
  startAt?: number
  endAt?: number
  limit?: number
}

export interface Role {
  name: string
  job: string
  scopes: readonly string[]
  /** Those of one are paused and resumed together. */
  group?: string
  policies: PolicyFields
  verbs: readonly Verb[]
  grid(random: Random, now: number): Omit<Content, 'mark'>
}

export type Verb =
  | 'put'
  | 'patch'
  | 'pause'
  | 'pause until'
  | 'resume'
  | 'pause group'
  | 'resume group'
  | 'skip'
  | 'unskip'
  | 'trigger'
  | 'backfill'
  | 'delete'
  | 'recreate'
  | 'rename'

const GLOBAL = ['global']
const ALL_VERBS: readonly Verb[] = [
  'put',
  'patch',
  'patch',
  'pause',
  'pause',
  'pause until',
  'resume',
  'resume',
  'resume',
  'skip',
  'unskip',
  'trigger',
  'backfill',
  'delete',
  'recreate',
  'rename',
]

/** No pause among them that ends by itself: whether one had, when the group was paused, nobody could tell. */
const GROUP_VERBS: readonly Verb[] = [
  'pause group',
  'pause group',
  'resume group',
  'resume group',
  'resume group',
  'pause',
  'resume',
  'patch',
  'skip',
  'rename',
  'recreate',
]

const CROWD_VERBS: readonly Verb[] = [
  'pause group',
  'resume group',
  'resume group',
  'put',
  'patch',
  'patch',
  'pause',
  'resume',
  'skip',
  'rename',
  'recreate',
]

/** Each late plan time is caught up, so that whatever has no run was lost. */
const EACH = { catchUp: 'all', grace: '1 minute' } satisfies PolicyFields

/** Plan times that are later than this, and were not decided, may be `missed` under the policies that leave some out. */
export const SHORT_GRACE_MS = 2_000
export const AFTER_SECONDS = 2
export const BREAKER_FAILURES = 3

/** Some of each kind; the names tell the kind. */
export function createCast(): Role[] {
  const many = (count: number, make: (index: number) => Role) =>
    Array.from({ length: count }, (_, index) => make(index))
  const jobs = ['quick', 'flaky', 'count', 'slow', 'at-most-once']
  return [
    ...many(10, (index) => ({
      name: `each-${index}`,
      job: jobs[index % jobs.length]!,
      scopes: GLOBAL,
      policies: EACH,
      verbs: ALL_VERBS,
      grid: secondly,
    })),
    // Hardly edited: most plan times are certain, and handlers are at work when something breaks.
    ...many(8, (index) => ({
      name: `steady-${index}`,
      job: ['slow', 'quick', 'count', 'flaky'][index % 4]!,
      scopes: GLOBAL,
      policies: EACH,
      verbs: ['skip', 'unskip', 'patch'],
      grid: secondly,
    })),
    ...many(2, (index) => ({
      name: `limp-${index}`,
      job: 'limping',
      scopes: GLOBAL,
      policies: EACH,
      verbs: ['skip', 'unskip'],
      grid: (random) => ({ grid: { kind: 'every', seconds: random.pick([1, 2]) } }),
    })),
    ...many(4, (index) => ({
      name: `group-${index}`,
      job: ['quick', 'count'][index % 2]!,
      scopes: GLOBAL,
      group: 'together',
      policies: EACH,
      verbs: GROUP_VERBS,
      grid: secondly,
    })),
    ...many(3, (index) => ({
      name: `scoped-${index}`,
      job: 'quick',
      scopes: ['a', 'b', 'c'],
      policies: EACH,
      verbs: ALL_VERBS.filter((verb) => verb !== 'trigger'),
      grid: secondly,
    })),
    ...many(4, (index) => ({
      name: `latest-${index}`,
      job: 'quick',
      scopes: GLOBAL,
      policies: { catchUp: index % 2 === 0 ? 'latest' : 'none', grace: `${SHORT_GRACE_MS / 1000} seconds` },
      verbs: ALL_VERBS,
      grid: secondly,
    })),
    ...many(6, (index) => ({
      name: `lane-${index}`,
      job: 'slow',
      scopes: GLOBAL,
      policies: { ...EACH, overlap: (['skip', 'queue', 'replace'] as const)[index % 3]! },
      verbs: ALL_VERBS,
      grid: secondly,
    })),
    ...many(4, (index) => ({
      name: `once-${index}`,
      job: 'quick',
      scopes: GLOBAL,
      policies: EACH,
      verbs: ['recreate', 'recreate', 'put', 'delete', 'trigger'],
      grid: (random, now) => ({ grid: { kind: 'once', at: now + random.between(-500, 6_000) } }),
    })),
    ...many(4, (index) => ({
      name: `bounded-${index}`,
      job: 'quick',
      scopes: GLOBAL,
      policies: EACH,
      verbs: ['recreate', 'put', 'put', 'skip', 'delete', 'trigger'],
      grid: bounded,
    })),
    ...many(4, (index) => ({
      name: `after-${index}`,
      job: index % 2 === 0 ? 'quick' : 'slow',
      scopes: GLOBAL,
      policies: { catchUp: 'all', overlap: 'skip' },
      verbs: ['pause', 'resume', 'resume', 'put', 'trigger', 'delete', 'recreate'],
      grid: () => ({ grid: { kind: 'after', seconds: AFTER_SECONDS } }),
    })),
    ...many(2, (index) => ({
      name: `breaker-${index}`,
      job: 'doomed',
      scopes: GLOBAL,
      policies: { ...EACH, breaker: { failures: BREAKER_FAILURES } },
      verbs: ['resume', 'resume', 'put', 'pause'],
      grid: secondly,
    })),
  ]
}

const CROWD = 2_000
const CROWD_GROUPS = 40

/** Many that are seldom due, of which some dozens are at the same second. */
export function createCrowd(): Role[] {
  return Array.from({ length: CROWD }, (_, index) => ({
    name: `crowd-${index}`,
    job: 'quick',
    scopes: GLOBAL,
    group: `crowd-${index % CROWD_GROUPS}`,
    policies: EACH,
    verbs: CROWD_VERBS,
    grid: (random) => ({ grid: { kind: 'every', seconds: random.between(120, 240) } }),
  }))
}

export const isAfter = ({ name }: Pick<Role, 'name'>) => name.startsWith('after-')
/** One that ends by itself, and so may have nothing left to pause. */
export const endsByItself = ({ name }: Pick<Role, 'name'>) => /^(once|bounded)-/.test(name)

/** Each has two names, and is called by one of them at a time. */
export const otherNameOf = (name: string) => (name.endsWith(OTHER) ? roleNameOf(name) : `${name}${OTHER}`)
export const roleNameOf = (name: string) => (name.endsWith(OTHER) ? name.slice(0, -OTHER.length) : name)
const OTHER = ':renamed'

function secondly(random: Random): Omit<Content, 'mark'> {
  if (random.chance(0.2)) return { grid: { kind: 'rrule', seconds: random.pick([2, 3, 5, 7]) } }
  if (random.chance(0.5)) return { grid: { kind: 'every', seconds: random.pick([1, 2, 3, 5, 7]) } }
  const zone = random.pick(['UTC', 'Asia/Kolkata', 'America/St_Johns'])
  return { grid: { kind: 'cron', seconds: random.pick([2, 3, 5, 7, 10]), zone } }
}

/** From a second on that is still to come, through so many plan times or up to an instant that is one itself. */
function bounded(random: Random, now: number): Omit<Content, 'mark'> {
  const startAt = Math.ceil(now / 1000) * 1000 + random.between(1, 3) * 1000
  const seconds = random.pick([1, 2])
  const grid: Grid = { kind: 'every', seconds }
  if (random.chance(0.5)) return { grid, startAt, limit: random.between(1, 6) }
  return { grid, startAt, endAt: startAt + random.between(1, 6) * seconds * 1000 }
}
