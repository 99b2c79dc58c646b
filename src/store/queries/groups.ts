import type { Session } from '../store.js'

/**
 * The groups of these schedules, null for those in none. Of a schedule that is gone, the one that it had when it was deleted;
 * those of which nothing is left are left out.
 */
export async function findGroups(
  session: Session,
  ids: readonly string[],
): Promise<Map<string, string | null>> {
  const rows = await session.query<{ id: string; group: string | null }>(
    `select wanted.id, case when s.id is null then gone.before->>'group' else s."group" end as "group"
     from unnest($1::uuid[]) as wanted (id)
     left join {schema}.schedules as s on s.id = wanted.id
     left join lateral (
       select before from {schema}.changes
       where s.id is null and schedule_id = wanted.id and before is not null order by id desc limit 1
     ) as gone on true
     where s.id is not null or gone.before is not null`,
    [ids],
  )
  return new Map(rows.map(({ id, group }) => [id, group]))
}
