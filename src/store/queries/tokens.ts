import { NOW, type Session } from '../store.js'

export interface TokenRow {
  id: string
  name: string
  role: 'viewer' | 'operator' | 'admin'
  group: string | null
  created_at: Date
  created_by: string | null
  expires_at: Date | null
  revoked_at: Date | null
  revoked_by: string | null
  last_used_at: Date | null
  is_expired: boolean
}

const COLUMNS = `t.id, t.name, t.role, t."group", t.created_at, t.created_by, t.expires_at, t.revoked_at, t.revoked_by,
  t.last_used_at`

export interface TokenWrite {
  id: string
  name: string
  hash: string
  role: string
  group: string | null
  createdBy: string | null
  expiresAt: Date | null
}

export async function insertToken(session: Session, token: TokenWrite): Promise<TokenRow> {
  const [row] = await session.query<TokenRow>(
    `insert into {schema}.tokens as t (id, name, hash, role, "group", created_at, created_by, expires_at)
     values ($2, $3, $4, $5, $6, ${NOW}, $7, $8)
     returning ${COLUMNS}, coalesce(expires_at <= created_at, false) as is_expired`,
    [
      session.now(),
      token.id,
      token.name,
      token.hash,
      token.role,
      token.group,
      token.createdBy,
      token.expiresAt,
    ],
  )
  return row!
}

/** A session takes after its token, and ends with it at the latest. Sessions that have ended are cleared away, and the oldest of too many. */
export async function insertSession(
  session: Session,
  {
    id,
    hash,
    parentId,
    forMs,
    most,
  }: { id: string; hash: string; parentId: string; forMs: number; most: number },
): Promise<{ expires_at: Date }> {
  const [row] = await session.query<{ expires_at: Date }>(
    `with clock as materialized (select ${NOW} as now),
     cleared as (delete from {schema}.tokens as t using clock where t.parent_id is not null and t.expires_at < clock.now),
     crowded as (
       delete from {schema}.tokens where id in (
         select s.id from {schema}.tokens as s where s.parent_id = $4 order by s.created_at desc, s.id offset $6 - 1
       )
     )
     insert into {schema}.tokens (id, name, hash, role, "group", parent_id, created_at, expires_at)
     select $2, p.name, $3, p.role, p."group", p.id, clock.now,
       least(clock.now + $5::float8 * interval '1 millisecond', p.expires_at)
     from {schema}.tokens as p, clock where p.id = $4
     returning expires_at`,
    [session.now(), id, hash, parentId, forMs, most],
  )
  return row!
}

export interface KnownToken {
  id: string
  name: string
  hash: string
  role: TokenRow['role']
  group: string | null
  /** Of a session: its token. */
  parent_id: string | null
  /** Neither expired nor revoked, nor is what it was opened with. */
  is_live: boolean
  /** Whether its use was noted lately. */
  is_noted: boolean
}

export async function findToken(session: Session, id: string): Promise<KnownToken | undefined> {
  const [row] = await session.query<KnownToken>(
    `with clock as materialized (select ${NOW} as now)
     select t.id, t.name, t.hash, t.role, t."group", t.parent_id,
       t.revoked_at is null and coalesce(t.expires_at > clock.now, true)
         and p.revoked_at is null and coalesce(p.expires_at > clock.now, true) as is_live,
       coalesce(coalesce(p.last_used_at, t.last_used_at) > clock.now - interval '1 minute', false) as is_noted
     from clock, {schema}.tokens as t left join {schema}.tokens as p on p.id = t.parent_id
     where t.id = $2`,
    [session.now(), id],
  )
  return row
}

export async function noteUse(session: Session, id: string): Promise<void> {
  await session.query(`update {schema}.tokens set last_used_at = ${NOW} where id = $2`, [session.now(), id])
}

/** Newest first, without sessions. */
export function listTokens(
  session: Session,
  { before, limit }: { before: string | null; limit: number },
): Promise<TokenRow[]> {
  return session.query<TokenRow>(
    `with clock as materialized (select ${NOW} as now)
     select ${COLUMNS}, coalesce(t.expires_at <= clock.now, false) as is_expired from {schema}.tokens as t, clock
     where t.parent_id is null and ($2::uuid is null or (t.created_at, t.id) < (
       select b.created_at, b.id from {schema}.tokens as b where b.id = $2
     ))
     order by t.created_at desc, t.id desc limit $3`,
    [session.now(), before, limit],
  )
}

/** Whether there is such a token; one that is revoked already stays as it was. */
export async function revokeToken(session: Session, id: string, by: string | null): Promise<boolean> {
  const rows = await session.query(
    `update {schema}.tokens set revoked_at = coalesce(revoked_at, ${NOW}),
       revoked_by = case when revoked_at is null then $3 else revoked_by end
     where id = $2 returning true`,
    [session.now(), id, by],
  )
  return rows.length > 0
}

/** Whether any token was ever made, however it ended. */
export async function hasTokens(session: Session): Promise<boolean> {
  const [row] = await session.query<{ found: boolean }>(
    'select exists (select from {schema}.tokens) as found',
  )
  return row!.found
}
