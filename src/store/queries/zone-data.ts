import type { Session } from '../store.js'

/** Where a walk through the schedules of older zone data stands. */
export interface ZoneDataPosition {
  zone_data: string
  id: string
}

/** Active schedules whose cursors older zone data have computed, after `after`, by an index of their own. */
export function listOlderZoneData(
  session: Session,
  {
    zoneData,
    after,
    kinds,
    limit,
  }: { zoneData: string; after: ZoneDataPosition; kinds: readonly string[]; limit: number },
): Promise<(ZoneDataPosition & { name: string })[]> {
  return session.query(
    `select zone_data, id, name from {schema}.schedules
     where state = 'active' and zone_data is not null and zone_data < $1 and (zone_data, id) > ($2, $3)
       and timing->>'kind' = any($4)
     order by zone_data, id limit $5`,
    [zoneData, after.zone_data, after.id, kinds, limit],
  )
}

/** Says with which zone data the cursors are right as they are; they are locked. */
export async function markZoneData(
  session: Session,
  marks: readonly { id: string; zoneData: string | null }[],
): Promise<void> {
  await session.query(
    `update {schema}.schedules as s set zone_data = mark.zone_data, zone_data_from = c.decided_through
     from unnest($1::uuid[], $2::text[]) as mark (id, zone_data)
     join {schema}.cursors as c on c.schedule_id = mark.id
     where s.id = mark.id`,
    [marks.map(({ id }) => id), marks.map(({ zoneData }) => zoneData)],
  )
}

export interface NewerZoneData {
  /** Up to `most`. */
  schedules: number
  /** The newest that any active schedule was computed with, be it newer or not; null where none has a zone. */
  newest: string | null
}

/** How many active schedules newer zone data have computed, and which data are the newest. */
export async function countNewerZoneData(
  session: Session,
  zoneData: string,
  most: number,
): Promise<NewerZoneData> {
  const [row] = await session.query<NewerZoneData>(
    `select (
       select count(*) from (
         select from {schema}.schedules where state = 'active' and zone_data is not null and zone_data > $1 limit $2
       ) as newer
     ) as schedules, (
       select zone_data from {schema}.schedules where state = 'active' and zone_data is not null
       order by zone_data desc limit 1
     ) as newest`,
    [zoneData, most],
  )
  return row!
}
