/** What belongs to no grid: runs that were asked for, chains, breakers, counters and rows whose time came. */
import { AFTER_SECONDS, BREAKER_FAILURES, isAfter, type Role } from '../cast.js'
import type { Entry, FaultEntry, VerbEntry } from '../history.js'
import type { Expected } from '../oracle.js'
import type { World } from '../world.js'
import { at, type Report } from './finding.js'
import { groupBy } from './grouping.js'
import type { Ledger, RunRow } from './ledger.js'

/** Each run that was promised is there, and none that nobody asked for. */
export function checkAskedRuns(
  all: readonly Expected[],
  entries: readonly Entry[],
  { runs, names }: Ledger,
  report: Report,
): void {
  const known = new Set(runs.map(({ id }) => id))
  const verbs = entries.filter((entry): entry is VerbEntry => entry.type === 'verb')
  for (const { verb, name, id, runIds = [], answer } of verbs) {
    if (answer !== 'ok') continue
    for (const promised of id === undefined ? runIds : [id, ...runIds]) {
      if (!known.has(promised))
        report('lost', promised, `${verb} ${name} promised this run, and there is none`)
    }
  }
  const promised = new Set(all.flatMap((expected) => [...expected.promised]))
  const mayHaveMore = new Set(all.flatMap(({ role, isTriggerOpen }) => (isTriggerOpen ? [role.name] : [])))
  const keys = new Set(verbs.flatMap(({ verb, key }) => (verb === 'enqueue' ? [key!] : [])))
  for (const run of runs) {
    const name = names.get(run.scheduleId ?? '') ?? ''
    if (run.trigger === 'manual' && !promised.has(run.id) && !mayHaveMore.has(name))
      report('unexpected', run.id, `a manual run of ${name} that nobody asked for`)
    if (run.trigger === 'direct' && !keys.has(run.key ?? ''))
      report('unexpected', run.id, `a direct run with the key ${run.key} that nobody asked for`)
  }
  for (const [key, own] of groupBy(
    runs.filter(({ trigger }) => trigger === 'direct'),
    (run) => `${run.job} ${run.key}`,
  )) {
    if (own.length > 1) report('doubled', own.map(({ id }) => id).join(' '), `${own.length} runs of ${key}`)
  }
}

/** Plan times of `after` keep their distance from the end of the run before, whatever asked for that. */
export function checkChains(cast: readonly Role[], { runs, names }: Ledger, report: Report): number {
  let links = 0
  const roles = new Map(cast.filter(isAfter).map((role) => [role.name, role]))
  for (const [scheduleId, own] of groupBy(runs, (run) => run.scheduleId)) {
    const role = roles.get(names.get(scheduleId ?? '') ?? '')
    if (!role) continue
    const inOrder = own.toSorted((a, b) => placeOf(a) - placeOf(b))
    inOrder.forEach((run, index) => {
      const before = inOrder[index - 1]
      if (!before) return
      links += 1
      if (before.finishedAt === null)
        report('after', run.id, `${role.name} has another run while ${before.id} is open`)
      else if (run.planTime !== null && run.planTime < before.finishedAt + AFTER_SECONDS * 1000)
        report(
          'after',
          run.id,
          `${role.name} ${at(run.planTime)} is ${run.planTime - before.finishedAt} ms after the end of ${before.id}`,
        )
      else if (run.planTime === null && run.createdAt < before.finishedAt)
        report('after', run.id, `${role.name} was triggered while ${before.id} was open`)
    })
  }
  return links
}

const placeOf = ({ planTime, createdAt }: RunRow) => planTime ?? createdAt

/** How long after its end a run may be counted: in peace, and where a stranger's lock or a frozen process stood in its way. */
const COUNTED_WITHIN_MS = 1_000
const COUNTED_LATE_WITHIN_MS = 15_000

/** A schedule breaks when so many scheduled runs in a row have failed, and not before. */
export function checkBreakers(
  { runs, names, breaks }: Ledger,
  faults: readonly FaultEntry[],
  report: Report,
): void {
  const ended = groupBy(
    runs
      .filter(({ trigger, finishedAt }) => trigger === 'scheduled' && finishedAt !== null)
      .sort((a, b) => a.finishedAt! - b.finishedAt! || a.planTime! - b.planTime!),
    ({ scheduleId }) => scheduleId,
  )
  for (const { scheduleId, changedAt } of breaks) {
    const name = names.get(scheduleId)
    const before = (ended.get(scheduleId) ?? []).filter(({ finishedAt }) => finishedAt! <= changedAt)
    const isInPeace = faults.every(({ t0, t1 }) => changedAt < t0 || changedAt > t1 + COUNTED_LATE_WITHIN_MS)
    const withinMs = isInPeace ? COUNTED_WITHIN_MS : COUNTED_LATE_WITHIN_MS
    const last = before.slice(-BREAKER_FAILURES)
    const failed = last.filter(({ state }) => state === 'failed')
    // What ended together with the last failure may have been counted before it or after it.
    const isWhole = last.every((run) => failed.includes(run) || run.finishedAt! > changedAt - withinMs)
    if (last.length < BREAKER_FAILURES || !isWhole)
      report(
        'breaker',
        scheduleId,
        `${name} broke at ${at(changedAt)}, and of the last runs ${failed.length} had failed`,
      )
  }
}

/** What a transactional handler wrote is there once for each run that succeeded, and for no other. */
export async function checkCounter(
  { query }: Pick<World, 'query'>,
  { runs }: Ledger,
  report: Report,
): Promise<number> {
  const rows = await query<{ run: string; attempt: number }>('select run, attempt from public.tally')
  const written = groupBy(rows, ({ run }) => run)
  const succeeded = runs.filter(({ job, state }) => job === 'count' && state === 'succeeded')
  for (const { id, attempt } of succeeded) {
    const own = written.get(id) ?? []
    written.delete(id)
    if (own.length !== 1) report('counter', id, `succeeded, and was counted ${own.length} times`)
    else if (own[0]!.attempt !== attempt)
      report('counter', id, `attempt ${own[0]!.attempt} was counted, and attempt ${attempt} succeeded`)
  }
  for (const id of written.keys()) report('counter', id, 'was counted, and did not succeed')
  return succeeded.length
}

interface PostRow {
  id: string
  status: string
  is_archive: boolean
  seen: number
  outbox: number
  log: number
  early: number
}

/** Each row changed when its time had come, once for each of its times, together with its log row and its outbox row. */
export async function checkTransitions(
  { query }: Pick<World, 'query'>,
  entries: readonly Entry[],
  report: Report,
): Promise<number> {
  const posts = await query<PostRow>(
    `with seen as (
       select s.post, count(*) filter (where s.before <> s.after)::int as seen,
         count(*) filter (where s.at < case s.after when 'published' then p.publish_at else p.archive_at end)::int as early
       from public.seen as s join public.posts as p on p.id = s.post group by s.post
     ),
     outbox as (select post, count(*)::int as outbox from public.outbox group by post),
     log as (
       select key, count(*)::int as log, count(*) filter (where applied_at < date_trunc('milliseconds', due_at))::int as early
       from escapement.transition_log group by key
     )
     select p.id, p.status, p.archive_at is not null as is_archive, coalesce(seen.seen, 0) as seen,
       coalesce(outbox.outbox, 0) as outbox, coalesce(log.log, 0) as log,
       coalesce(seen.early, 0) + coalesce(log.early, 0) as early
     from public.posts as p left join seen on seen.post = p.id left join outbox on outbox.post = p.id
       left join log on log.key = p.id`,
  )
  for (const { id, status, is_archive, seen, outbox, log, early } of posts) {
    const due = is_archive ? 2 : 1
    if (status !== (is_archive ? 'archived' : 'published')) report('transition', id, `is still ${status}`)
    // One that is swept late is published and archived by one UPDATE.
    if (seen < 1 || seen > due) report('transition', id, `was changed ${seen} times`)
    if (outbox !== due) report('transition', id, `has ${outbox} outbox rows, and had ${due} times`)
    if (log !== due) report('transition', id, `has ${log} log rows, and had ${due} times`)
    if (early > 0) report('early', id, 'was changed before its time')
  }
  const known = new Set(posts.map(({ id }) => id))
  for (const entry of entries) {
    if (entry.type === 'verb' && entry.verb === 'insert' && entry.answer === 'ok' && !known.has(entry.name))
      report('lost', entry.name, 'the row was inserted, and is gone')
  }
  return posts.reduce((sum, { log }) => sum + log, 0)
}
