import { CARRIED_TABLES } from '../carried-tables.js'
import { NOW, type Session, type Store } from '../store.js'
import { notify } from './notifying.js'

export interface MoveRow {
  id: string
  taken_at: Date
  taken_by: string | null
}

/** The move by which everything went away from here; undefined where it is still here. */
export async function findMove(session: Session): Promise<MoveRow | undefined> {
  const [row] = await session.query<MoveRow>(
    'select id, taken_at, taken_by from {schema}.exports where imported_at is null',
  )
  return row
}

/** The exports that all of it came by. */
export async function listLineage(session: Session): Promise<string[]> {
  const rows = await session.query<{ id: string }>('select id from {schema}.exports order by taken_at, id')
  return rows.map(({ id }) => id)
}

/** Nothing is claimed for so long, whatever an operator has said of claiming. */
export async function holdClaims(session: Session, forMs: number): Promise<void> {
  await session.query(
    `update {schema}.control set claiming_held_until = ${NOW} + $2::float8 * interval '1 millisecond'`,
    [session.now(), forMs],
  )
}

export async function endHold(store: Store): Promise<void> {
  await store.transaction(async (session) => {
    await forgetHold(session)
    await notify(session, store.channel, 'runs')
  })
}

export async function forgetHold(session: Session): Promise<void> {
  await session.query('update {schema}.control set claiming_held_until = null')
}

export interface RunAtWork {
  id: string
  job: string
  schedule: string | null
  host: string | null
  pid: number | null
  total: number
}

/** Runs whose workers hold their leases, the oldest first, and how many there are. One whose lease has expired is nobody's. */
export function listAtWork(session: Session, limit: number): Promise<RunAtWork[]> {
  return session.query<RunAtWork>(
    `select r.id, r.job, s.name as schedule, w.host, w.pid, count(*) over () as total
     from {schema}.runs_at_hand as r
     left join {schema}.schedules as s on s.id = r.schedule_id
     left join {schema}.workers as w on w.id = r.worker_id
     where r.state = 'running' and r.lease_expires_at > (select ${NOW})
     order by r.started_at, r.id limit $2`,
    [session.now(), limit],
  )
}

/** All but where the move itself is noted, and with the schema's own record: a migration is a change too. */
const FROZEN_TABLES = ['migrations', ...CARRIED_TABLES.filter((table) => table !== 'exports')]

/**
 * Waits for everybody who has changed something and not committed it, and lets nobody else begin. Gives up soon: who waits
 * for a lock holds up all who come later, and half a second is less than it takes a server to look for a deadlock, in which it
 * would end one of them.
 */
export async function lockOut(session: Session): Promise<void> {
  await waitBriefly(session)
  await session.query(
    `lock table ${FROZEN_TABLES.map((table) => `{schema}.${table}`).join(', ')} in share row exclusive mode`,
  )
  await session.query('set local lock_timeout = 0')
}

/** For each lock from here on, to the end of the transaction. */
export async function waitBriefly(session: Session): Promise<void> {
  await session.query(`set local lock_timeout = '500ms'`)
}

export async function recordMove(
  session: Session,
  { id, by }: { id: string; by: string | null },
): Promise<MoveRow> {
  const [row] = await session.query<MoveRow>(
    `insert into {schema}.exports (id, mode, taken_at, taken_by) values ($2, 'move', ${NOW}, $3)
     returning id, taken_at, taken_by`,
    [session.now(), id, by],
  )
  return row!
}

/** Each table with what is refused of it: a name, when, and for which rows. */
type Refusal = readonly [table: string, name: string, when: string]

/** Of tokens only what is carried: that one was used, and sessions of browsers, are no changes, so that reading goes on. */
const OF_TOKENS: readonly Refusal[] = [
  ['tokens', 'refuse_insert', 'before insert on {schema}.tokens for each row when (new.parent_id is null)'],
  [
    'tokens',
    'refuse_update',
    'before update of name, hash, role, "group", expires_at, revoked_at on {schema}.tokens for each row when (old.parent_id is null)',
  ],
  ['tokens', 'refuse_delete', 'before delete on {schema}.tokens for each row when (old.parent_id is null)'],
  ['tokens', 'refuse_truncate', 'before truncate on {schema}.tokens for each statement'],
]

const REFUSALS: readonly Refusal[] = [
  ...FROZEN_TABLES.filter((table) => table !== 'tokens').map(
    (table): Refusal => [
      table,
      'refuse_changes',
      `before insert or update or delete or truncate on {schema}.${table} for each statement`,
    ],
  ),
  ...OF_TOKENS,
]

/** From the commit on the database itself refuses every change, by whatever program. */
export async function freeze(session: Session): Promise<void> {
  for (const [, name, when] of REFUSALS) {
    await session.query(`create trigger ${name} ${when} execute function {schema}.refuse_changes()`)
  }
}

/** Takes all of that away again. */
export async function thaw(session: Session): Promise<void> {
  for (const [table, name] of REFUSALS)
    await session.query(`drop trigger if exists ${name} on {schema}.${table}`)
}

export async function forgetMove(session: Session, id: string): Promise<void> {
  await session.query('delete from {schema}.exports where id = $1', [id])
}
