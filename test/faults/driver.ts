/**
 * The users: each has schedules of its own and asks for one thing after another, in an order that follows from the seed. Every call is in
 * the history with its answer. After an answer that was lost a user looks, until somebody answers, before asking for more; what has a key
 * is asked for again under it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type * as Library from 'escapement'
import { type Content, endsByItself, type Role, type Verb } from './cast.js'
import type { Answer, Entry, Journal, ObservedEntry, VerbEntry } from './history.js'
import { planTimesOf } from './oracle.js'
import { createRandom, type Random } from './random.js'

export interface Driver {
  /** Lets what was asked for come to its end, and returns when nothing is unknown. */
  stop(): Promise<void>
}

/** What a refusal is: it says that nothing has changed. All other errors leave that open. */
const REFUSALS = new Set([
  'schedule_not_found',
  'schedule_exists',
  'schedule_invalid',
  'timing_invalid',
  'already_decided',
  'not_a_plan_time',
  'run_open',
  'option_invalid',
])

/** Longer than anything that is still under way can take to arrive: a slow network holds it back by less. */
const LOOK_AFTER_MS = 2_000

export interface Users {
  escapement: Library.Escapement
  library: typeof Library
  history: Journal<Entry>
  seed: number
  /** How many verbs all users together ask for in a second, roughly. */
  verbsPerSecond: number
}

export function startDriver(users: Users, cast: readonly Role[]): Driver {
  let isStopping = false
  const stopping = () => isStopping
  // Those of one kind are shared among the users, so that none of them waits for one fault in everything.
  const lanes = Array.from({ length: USERS }, (_, lane) => cast.filter((__, index) => index % USERS === lane))
  const work = [
    ...lanes.map((roles, lane) => playUser(users, `user-${lane}`, roles, stopping)),
    playEnqueuer(users, stopping),
    playAuthor(users, stopping),
  ]
  return {
    async stop() {
      isStopping = true
      await Promise.all(work)
    },
  }
}

const USERS = 6

async function playUser(
  users: Users,
  user: string,
  roles: readonly Role[],
  isStopping: () => boolean,
): Promise<void> {
  const random = createRandom(users.seed, user)
  const desk = createDesk(users, user)
  const contents = new Map<string, Content>()
  let mark = 0
  const fresh = (role: Role): Content => ({ mark: ++mark, ...role.grid(random, Date.now()) })
  for (const role of roles) contents.set(role.name, await desk.put(role, fresh(role), 'put'))
  while (!isStopping()) {
    const role = random.pick(roles)
    const verb = random.pick(role.verbs)
    // Drawn whether it is used or not: the order hangs on the seed and not on answers.
    const pauseMs = random.between(0, (2_000 * USERS) / users.verbsPerSecond)
    await act(desk, { role, verb, random, contents, fresh })
    await sleep(pauseMs)
  }
}

interface Act {
  role: Role
  verb: Verb
  random: Random
  /** What each of its schedules was last put with, whether that was heard or not. */
  contents: Map<string, Content>
  fresh(role: Role): Content
}

async function act(desk: Desk, { role, verb, random, contents, fresh }: Act): Promise<void> {
  const { name } = role
  const place = random.below(3)
  const last = contents.get(name)!
  if (verb === 'put' || verb === 'patch' || verb === 'recreate') contents.set(name, fresh(role))
  const content = contents.get(name)!
  switch (verb) {
    case 'put':
    case 'patch':
      return void (await desk.put(role, content, endsByItself(role) ? 'put' : verb))
    case 'recreate':
      await desk.change('delete', name)
      return void (await desk.put(role, content, 'put'))
    case 'skip':
    case 'unskip': {
      const planTime = planTimesOf(last, Date.now() + 500, Date.now() + 60_000)[place]
      if (planTime !== undefined) await desk.wish(verb, name, planTime)
      return
    }
    case 'trigger':
      return desk.trigger(name)
    case 'backfill':
      return desk.backfill(name, Date.now() - random.between(5, 30) * 1000, Date.now())
    default:
      return desk.change(verb, name)
  }
}

type Desk = ReturnType<typeof createDesk>

/** Where one user asks, and what it is told is written down. */
function createDesk({ escapement, library, history }: Users, user: string) {
  const { schedules } = escapement
  let number = 0

  async function ask<T>(
    facts: Pick<VerbEntry, 'verb' | 'name'> & Partial<VerbEntry>,
    call: () => Promise<T>,
    told: (value: T) => Partial<VerbEntry> = () => ({}),
  ): Promise<Answer> {
    const asked = { type: 'verb' as const, user, number: number++, ...facts, t0: Date.now() }
    try {
      const value = await call()
      history.write({ ...asked, t1: Date.now(), answer: 'ok', ...told(value) })
      return 'ok'
    } catch (error) {
      const { code = '', message } = error as { code?: string; message: string }
      const answer = REFUSALS.has(code) ? 'refused' : 'unknown'
      history.write({ ...asked, t1: Date.now(), answer, code, message: message.slice(0, 200) })
      return answer
    }
  }

  async function look(name: string): Promise<void> {
    await sleep(LOOK_AFTER_MS)
    const asked = { type: 'observed' as const, user, number: number++, name, t0: Date.now() }
    for (;;) {
      try {
        const { id, state, description } = await schedules.get(name)
        const mark = Number(description!.slice('mark '.length))
        return history.write({
          ...asked,
          exists: true,
          id,
          mark,
          isPaused: state === 'paused',
          t1: Date.now(),
        } satisfies ObservedEntry)
      } catch (error) {
        if ((error as { code?: string }).code === 'schedule_not_found') {
          return history.write({ ...asked, exists: false, t1: Date.now() })
        }
        await sleep(300)
      }
    }
  }

  async function changing(
    facts: Pick<VerbEntry, 'verb' | 'name'> & Partial<VerbEntry>,
    call: () => Promise<unknown>,
  ) {
    if ((await ask(facts, call)) === 'unknown') await look(facts.name)
  }

  /** Again and again under its key, until it is heard: the windows of all of them are one. */
  async function untilHeard(
    facts: Pick<VerbEntry, 'verb' | 'name'> & Partial<VerbEntry>,
    call: () => Promise<{ id: string }>,
  ): Promise<void> {
    while ((await ask(facts, call, ({ id }) => ({ id }))) === 'unknown') await sleep(500)
  }

  return {
    async put(role: Role, content: Content, verb: 'put' | 'patch'): Promise<Content> {
      const { name } = role
      const { timing, ...bounds } = timingOf(library, content)
      const description = `mark ${content.mark}`
      const { job, policies } = role
      const definition = {
        job,
        timing,
        description,
        ...policies,
        ...bounds,
        ...(role.scopes.length > 1 && { scopes: role.scopes }),
      }
      await changing({ verb, name, content }, () =>
        verb === 'put' ? schedules.put(name, definition) : schedules.patch(name, { timing, description }),
      )
      return content
    },
    change: (verb: 'pause' | 'resume' | 'delete', name: string) =>
      changing({ verb, name }, () => schedules[verb](name) as Promise<unknown>),
    wish: async (verb: 'skip' | 'unskip', name: string, planTime: number) =>
      void (await ask({ verb, name, planTime }, () => schedules[verb](name, new Date(planTime)))),
    trigger: (name: string) => {
      const key = `${user}-${number}`
      return untilHeard({ verb: 'trigger', name, key }, () => schedules.triggerRun(name, { key }))
    },
    backfill: async (name: string, from: number, to: number) =>
      void (await ask(
        { verb: 'backfill', name, from, to },
        () => schedules.backfill(name, { from: new Date(from), to: new Date(to) }),
        ({ runIds }) => ({ runIds }),
      )),
    enqueue: (job: string, key: string) =>
      untilHeard({ verb: 'enqueue', name: job, key }, () => escapement.runs.enqueue(job, null, { key })),
    insertPost: (id: string, { publishAt, archiveAt }: { publishAt: number; archiveAt: number | null }) =>
      ask({ verb: 'insert', name: id }, () =>
        escapement.database.query(
          'insert into public.posts (id, publish_at, archive_at) values ($1, $2, $3) on conflict do nothing',
          [id, new Date(publishAt), archiveAt === null ? null : new Date(archiveAt)],
        ),
      ),
  }
}

function timingOf({ every, cron, once, after }: typeof Library, { grid, startAt, endAt, limit }: Content) {
  const timing =
    grid.kind === 'every'
      ? every({ seconds: grid.seconds })
      : grid.kind === 'cron'
        ? cron(`*/${grid.seconds} * * * * *`, { zone: grid.zone })
        : grid.kind === 'once'
          ? once(new Date(grid.at))
          : after({ seconds: grid.seconds })
  return {
    timing,
    ...(startAt !== undefined && { startAt: new Date(startAt) }),
    ...(endAt !== undefined && { endAt: new Date(endAt) }),
    ...(limit !== undefined && { limit }),
  }
}

/** Asks for direct runs, each under a key of its own. */
async function playEnqueuer(users: Users, isStopping: () => boolean): Promise<void> {
  const random = createRandom(users.seed, 'enqueuer')
  const desk = createDesk(users, 'enqueuer')
  for (let count = 0; !isStopping(); count++) {
    await desk.enqueue(random.pick(['quick', 'flaky', 'count', 'at-most-once']), `key-${count}`)
    await sleep(random.between(100, 600))
  }
}

/** Writes rows whose time comes in the next seconds. */
async function playAuthor(users: Users, isStopping: () => boolean): Promise<void> {
  const random = createRandom(users.seed, 'author')
  const desk = createDesk(users, 'author')
  for (let count = 0; !isStopping(); count++) {
    const publishAt = Date.now() + random.between(-1_000, 5_000)
    const archiveAt = random.chance(0.5) ? publishAt + random.between(1, 3_000) : null
    await desk.insertPost(`post-${count}`, { publishAt, archiveAt })
    await sleep(random.between(100, 600))
  }
}
