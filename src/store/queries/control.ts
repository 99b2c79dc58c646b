import { NOW, type Session } from '../store.js'

export interface ClaimingRow {
  paused_at: Date | null
  paused_by: string | null
  paused_reason: string | null
}

const COLUMNS =
  'claiming_paused_at as paused_at, claiming_paused_by as paused_by, claiming_paused_reason as paused_reason'

export async function readClaiming(session: Session): Promise<ClaimingRow> {
  const [row] = await session.query<ClaimingRow>(`select ${COLUMNS} from {schema}.control`)
  return row!
}

/** Returns whether that changed anything: what is paused already keeps its reason. */
export async function pauseClaiming(
  session: Session,
  { reason, by }: { reason: string | null; by: string | null },
): Promise<boolean> {
  const rows = await session.query(
    `update {schema}.control set claiming_paused_at = ${NOW}, claiming_paused_reason = $2, claiming_paused_by = $3
     where claiming_paused_at is null returning true`,
    [session.now(), reason, by],
  )
  return rows.length > 0
}

export async function resumeClaiming(session: Session): Promise<boolean> {
  const rows = await session.query(
    `update {schema}.control set claiming_paused_at = null, claiming_paused_reason = null, claiming_paused_by = null
     where claiming_paused_at is not null returning true`,
  )
  return rows.length > 0
}
