import { NOW, type Session } from '../store.js'

/** A schedule that has no plan time left, and what became of it. */
export interface EndedSchedule {
  id: string
  name: string
  version: number
  is_deleted: boolean
}

/**
 * Ends schedules that have no plan time left: they are finished, or deleted where they ask for it, and the change log
 * says so with nobody as the actor. Returns those that ended; one that is not active is not finished again.
 *
 * What they held is in the change that made their version. Plan times up to `decided_through` met it.
 */
export function finishSchedules(
  session: Session,
  done: readonly { id: string; deleteWhenDone: boolean }[],
): Promise<EndedSchedule[]> {
  return session.query<EndedSchedule>(FINISH_SCHEDULES, [
    session.now(),
    done.map(({ id }) => id),
    done.map(({ deleteWhenDone }) => deleteWhenDone),
  ])
}

const FINISH_SCHEDULES = `
  with clock as materialized (select ${NOW} as now),
  ended as materialized (
    select s.id, s.name, s.version, done.is_deleted, c.decided_through, snapshot.content
    from unnest($2::uuid[], $3::boolean[]) as done (id, is_deleted)
    join {schema}.schedules as s on s.id = done.id
    join {schema}.cursors as c on c.schedule_id = s.id
    left join lateral (
      select after as content from {schema}.changes
      where schedule_id = s.id and after is not null order by id desc limit 1
    ) as snapshot on true
    where done.is_deleted or s.state = 'active'
  ),
  finished as (
    update {schema}.schedules as s set state = 'finished', state_since = clock.now
    from ended, clock where s.id = ended.id and not ended.is_deleted
  ),
  deleted as (
    delete from {schema}.schedules as s using ended where s.id = ended.id and ended.is_deleted
  ),
  logged as (
    insert into {schema}.changes (schedule_id, name, version, action, actor, before, after, state, boundary, changed_at)
    select id, name, version, case when is_deleted then 'delete' else 'finish' end, null, content,
      case when not is_deleted then content end, 'finished', decided_through, now
    from ended cross join clock order by id
  )
  select id, name, version, is_deleted from ended`
