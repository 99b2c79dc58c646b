/** After the last fault: everything is to come to rest by itself, within a time. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Report } from './checks/finding.js'
import type { World } from './world.js'

/** Without any progress: runs that wait for each other take their time. */
const PATIENCE_MS = 45_000

const UNSETTLED = `
  select 'a cursor behind' as what, s.name as about, c.decided_through::text || ', wakes at ' || coalesce(c.wake_at::text, 'never') as detail
  from escapement.cursors as c join escapement.schedules as s on s.id = c.schedule_id
  where s.state = 'active' and c.next_at <= to_timestamp($1 / 1000.0)
  union all
  select 'no cursor and no open run', s.name, s.state from escapement.cursors as c join escapement.schedules as s on s.id = c.schedule_id
  where s.state = 'active' and c.next_at is null
    and not exists (select from escapement.runs_open as o where o.schedule_id = s.id)
  union all
  select 'a pause that has ended', s.name, s.state_until::text from escapement.schedules as s
  where s.state = 'paused' and s.state_until <= clock_timestamp() - interval '1 second'
  union all
  select 'an open run', o.id::text, o.job || ' ' || o.state || ', attempt ' || o.attempt
  from escapement.runs_open as o join escapement.runs_asked as a on a.id = o.id
  where a.created_at <= to_timestamp($1 / 1000.0)
  union all
  select 'a lot', l.id::text, l.job || coalesce(' leased until ' || l.lease_expires_at, ' waiting') from escapement.lots as l
  where l.eligible_at <= to_timestamp($1 / 1000.0)
  union all
  select 'a row that is due', id, status from public.posts
  where (status = 'draft' and publish_at <= clock_timestamp()) or (status <> 'archived' and archive_at <= clock_timestamp())
     or greatest(publish_at, archive_at) > clock_timestamp()`

/** Resolves to how many milliseconds it took; what does not come to rest is reported. */
export async function untilSettled(
  world: World,
  { horizon, patience }: { horizon: number; patience: number },
  report: Report,
): Promise<number> {
  const startedAt = performance.now()
  let fewest = { count: Number.POSITIVE_INFINITY, at: startedAt }
  for (;;) {
    const rows = await world.query<Record<'what' | 'about' | 'detail', string>>(UNSETTLED, [horizon])
    const now = performance.now()
    const tookMs = now - startedAt
    if (rows.length === 0) return tookMs
    if (rows.length < fewest.count) fewest = { count: rows.length, at: now }
    if (now - fewest.at > PATIENCE_MS * patience) {
      for (const { what, about, detail } of rows) report('stuck', about, `${what}: ${detail}`)
      return tookMs
    }
    await sleep(500)
  }
}
