import type { Entry } from '../history.js'
import type { World } from '../world.js'
import type { Report } from './finding.js'

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
