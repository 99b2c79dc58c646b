/**
 * The users: each has schedules of its own and asks for one thing after another, in an order that follows from the seed. Every call is in
 * the history with its answer. After an answer that was lost a user looks, until somebody answers, before asking for more; what has a key
 * is asked for again under it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Content, endsByItself, type Role, type Verb } from './cast.js'
import { createDesk, type Desk, type DeskSettings } from './desk.js'
import { planTimesOf } from './grids.js'
import { createRandom, type Random } from './random.js'

export interface Driver {
  /** Lets what was asked for come to its end, and returns when nothing is unknown. */
  stop(): Promise<void>
}

export interface Users extends DeskSettings {
  seed: number
  /** How many verbs all users together ask for in a second, roughly. */
  verbsPerSecond: number
}

export function startDriver(
  users: Users,
  { cast, crowd }: { cast: readonly Role[]; crowd: readonly Role[] },
): Driver {
  let isStopping = false
  const stopping = () => isStopping
  // Those of one kind are shared among the users, so that none of them waits for one fault in everything.
  // A group has one user, who knows what has become of it.
  const laneOf = ({ group }: Role, index: number) => (group === undefined ? index % USERS : 0)
  const lanes = Array.from({ length: USERS }, (_, lane) =>
    cast.filter((role, index) => laneOf(role, index) === lane),
  )
  const work = [
    ...lanes.map((roles, lane) => playUser(users, { user: `user-${lane}`, roles, pace: 1 }, stopping)),
    // What one user of many does at once is more than the others do.
    playUser(users, { user: 'user-of-many', roles: crowd, pace: 0.3 }, stopping),
    playEnqueuer(users, stopping),
    playBulk(users, stopping),
    playSeldom(users, stopping),
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
  { user, roles, pace }: { user: string; roles: readonly Role[]; pace: number },
  isStopping: () => boolean,
): Promise<void> {
  const random = createRandom(users.seed, user)
  const desk = createDesk(users, user)
  const contents = new Map<string, Content>()
  let mark = 0
  const fresh = (role: Role): Content => ({ mark: ++mark, ...role.grid(random, Date.now()) })
  for (const role of roles) contents.set(role.name, fresh(role))
  await desk.putAll(roles, contents)
  while (!isStopping()) {
    const role = random.pick(roles)
    const verb = random.pick(role.verbs)
    // Drawn whether it is used or not: the order hangs on the seed and not on answers.
    const pauseMs = random.between(0, (2_000 * USERS) / users.verbsPerSecond / pace)
    await act(desk, { role, verb, roles, random, contents, fresh })
    await sleep(pauseMs)
  }
}

interface Act {
  role: Role
  verb: Verb
  /** All that this user has. */
  roles: readonly Role[]
  random: Random
  /** What each of its schedules was last put with, whether that was heard or not. */
  contents: Map<string, Content>
  fresh(role: Role): Content
}

async function act(desk: Desk, { role, verb, roles, random, contents, fresh }: Act): Promise<void> {
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
    case 'pause until':
      return desk.pauseUntil(name, Date.now() + random.between(500, 8_000))
    case 'pause group':
    case 'resume group':
      return desk.changeGroup(
        verb,
        role.group!,
        roles.filter(({ group }) => group === role.group).map((one) => one.name),
      )
    case 'rename':
      return desk.rename(name)
    default:
      return desk.change(verb, name)
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

/** Asks for many direct runs at once, without keys: they wait together, and are cut, claimed and ended together. */
async function playBulk(users: Users, isStopping: () => boolean): Promise<void> {
  const random = createRandom(users.seed, 'bulk')
  const desk = createDesk(users, 'bulk')
  for (let count = 0; !isStopping(); count++) {
    const job = random.pick(['quick', 'quick', 'flaky', 'slow', 'count', 'at-most-once', 'few'])
    // Some are more than one lot.
    const size = job === 'quick' && random.chance(0.1) ? 120 : random.between(2, 9)
    await desk.enqueueMany(
      job,
      Array.from({ length: size }, (_, index) => `bulk-${count}-${index}`),
    )
    await sleep(random.between(500, 3_000))
  }
}

/** Asks for a run now and then of a worker that has nothing else to do: it hears of it, or comes to look. */
async function playSeldom(users: Users, isStopping: () => boolean): Promise<void> {
  const random = createRandom(users.seed, 'seldom')
  const desk = createDesk(users, 'seldom')
  for (let count = 0; !isStopping(); count++) {
    await desk.enqueue('quiet', `quiet-${count}`, 'quiet')
    await sleep(random.between(500, 2_500))
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
