import { NOW, type Session } from '../store.js'

export interface Symptom {
  kind: 'unplannable' | 'overdue' | 'expired_lease' | 'unknown_job' | 'zone_data' | 'quarantined'
  /** The schedule, run, job or version of the zone data that shows it. */
  subject: string
  detail: string
}

/** What a healthy system does not show, the longest standing first; at most `limit` of each kind. */
export function listSymptoms(session: Session, limit: number): Promise<Symptom[]> {
  return session.query<Symptom>(LIST_SYMPTOMS, [session.now(), limit])
}

const LIST_SYMPTOMS = `
  with clock as materialized (select ${NOW} as now)
  (select 'unplannable' as kind, s.name as subject, c.plan_error as detail
   from {schema}.cursors as c join {schema}.schedules as s on s.id = c.schedule_id
   where c.plan_error is not null order by c.next_at, s.name limit $2)
  union all
  (select 'overdue', s.name, 'due since ' || to_char(c.wake_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
   from {schema}.cursors as c join {schema}.schedules as s on s.id = c.schedule_id
   where c.wake_at < (select now from clock) - interval '1 minute' and c.plan_error is null order by c.wake_at limit $2)
  union all
  (select 'expired_lease', r.id::text, 'of job ' || r.job || ', held by worker ' || r.worker_id
   from {schema}.runs_open as r
   where r.state = 'running' and r.lease_expires_at < (select now from clock) - interval '1 minute'
   order by r.lease_expires_at limit $2)
  union all
  (select 'unknown_job', r.job, count(*) || ' runs wait for it'
   from {schema}.runs_open as r
   where r.state in ('pending', 'retrying') and coalesce(r.lane, 0) = 0
     and r.eligible_at < (select now from clock) - interval '1 minute'
     and not exists (select from {schema}.workers as w where r.job = any(w.jobs)
       and w.seen_at > (select now from clock) - interval '1 minute')
   group by r.job limit $2)
  union all
  (select 'quarantined', f.table_schema || '.' || f.table_name || ' by ' || f.field,
     count(*) || ' rows could not be changed, first ' || (array_agg(q.key || ': ' || q.message order by q.quarantined_at, q.key))[1]
   from {schema}.transition_quarantine as q join {schema}.transition_fields as f on f.id = q.field_id
   group by f.id order by min(q.quarantined_at) limit $2)`
