import type { Escapement } from '../../src/index.js'
import type { SimulationEnd } from '../../src/testing/index.js'

/** In a row, after which the schedule that always fails is broken. */
export const FAILURES = 2
/** How many plan times the schedule has that is limited. */
export const LIMIT = 3

/** What a simulation cannot know of the small system by itself. */
export async function check({ escapement }: SimulationEnd): Promise<void> {
  await checkCounted(escapement)
  await checkPosts(escapement)
  await checkLimit(escapement)
  await checkBreaker(escapement)
}

/** The writes of a transactional job happen exactly once. */
async function checkCounted(escapement: Escapement): Promise<void> {
  const { runs } = await escapement.runs.search({ job: 'count', state: 'succeeded', limit: 1_000 })
  const counted = await escapement.database.query<{ run: string }>('select run from counted')
  const expected = runs.map(({ id }) => id).sort()
  const found = counted.map(({ run }) => run).sort()
  if (JSON.stringify(found) !== JSON.stringify(expected)) {
    throw new Error(`counted ${found.join(', ')} instead of ${expected.join(', ')}`)
  }
}

const POSTS = ['1 published', '2 archived', '3 archived', '4 draft']
const APPLIED = [
  '1 draft published',
  '2 draft published',
  '2 published archived',
  '3 draft published',
  '3 published archived',
]

/** Each transition is applied once, together with its row in the log, and never early. */
async function checkPosts({ database }: Escapement): Promise<void> {
  const posts = await database.query<{ post: string }>(
    `select id || ' ' || status as post from posts order by id`,
  )
  const log = await database.query<{ applied: string; is_early: boolean }>(
    `select concat_ws(' ', key, from_value, to_value) as applied, applied_at < due_at as is_early from escapement.transition_log`,
  )
  const found = [posts.map(({ post }) => post), log.map(({ applied }) => applied).sort()]
  if (JSON.stringify(found) !== JSON.stringify([POSTS, APPLIED])) {
    throw new Error(`transitions: ${JSON.stringify(found)}`)
  }
  if (log.some(({ is_early }) => is_early)) throw new Error('transitions: one was early')
}

/** One of the schedules that were arranged, under whatever name it is by now. */
const ARRANGED = (name: string) =>
  `(select schedule_id from escapement.changes where name = '${name}' order by id limit 1)`

/** No more plan times than were asked for, unless a verb gave it another timing, and with that another count. */
async function checkLimit({ database }: Escapement): Promise<void> {
  const [found] = await database.query<{ plan_times: number; timings: number }>(
    `select (select count(distinct plan_time)::int from escapement.runs_asked where schedule_id = ${ARRANGED('limited')}) as plan_times,
       (select count(distinct after->'timing')::int from escapement.changes where schedule_id = ${ARRANGED('limited')}) as timings`,
  )
  if (found!.timings === 1 && found!.plan_times > LIMIT) {
    throw new Error(`limit: ${found!.plan_times} plan times instead of ${LIMIT}`)
  }
}

/**
 * Between two changes of a schedule that is active, there are not as many failures as break it, unless the next change is that: of runs
 * that were planned after the first of the two: in the same instant, they may as well have failed before it. A pause that was to end is ended by whoever comes by, as of when it was to: until then
 * nothing is planned, and what fails is not counted. What ends after its last run was planned may find it finished.
 */
async function checkBreaker({ database }: Escapement): Promise<void> {
  const wrong = await database.query<{ failures: number; action: string | null }>(
    `select next.action, failed.count as failures
     from (
       select schedule_id, state, changed_at, lead(changed_at) over step as until, lead(action) over step as action
       from escapement.changes where schedule_id = ${ARRANGED('doomed')} window step as (order by id)
     ) as next
     cross join (
       select max(created_at) as created_at from escapement.runs_asked
       where schedule_id = ${ARRANGED('doomed')} and trigger = 'scheduled'
     ) as last
     cross join lateral (
       select count(*)::int from escapement.runs as r
       where r.schedule_id = next.schedule_id and r.state = 'failed' and r.trigger = 'scheduled' and r.attempt = 1
         and r.created_at > next.changed_at and (next.until is null or r.finished_at < next.until)
         and r.finished_at < last.created_at
     ) as failed
     where next.state = 'active' and next.action is distinct from 'break' and failed.count >= ${FAILURES}`,
  )
  if (wrong.length > 0) throw new Error(`breaker: ${JSON.stringify(wrong)}`)
  const [never] = await database.query<{ failures: number; breaks: number }>(
    `select (select count(*)::int from escapement.runs where schedule_id = ${ARRANGED('doomed')} and state = 'failed') as failures,
       (select count(*)::int from escapement.changes where schedule_id = ${ARRANGED('doomed')} and action = 'break') as breaks`,
  )
  if (never!.breaks > 0 && never!.failures < FAILURES)
    throw new Error(`breaker: broken after ${never!.failures}`)
}
