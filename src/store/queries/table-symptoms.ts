/** How our own tables are, as the server's catalogue and statistics have it: none of these reads a table. */
import { OWN_INDEXES, type OwnIndex } from '../own-indexes.js'
import type { Session, Store } from '../store.js'
import type { IndexState } from './transition-indexes.js'

/** Those of our indexes that are not there, or not whole. */
export async function listDamagedIndexes(
  session: Session,
  schema: string,
): Promise<{ index: OwnIndex; state: Exclude<IndexState, 'valid'> }[]> {
  const rows = await session.query<{ name: string; is_valid: boolean }>(
    `select i.relname::text as name, x.indisvalid and x.indisready as is_valid
     from pg_index as x join pg_class as i on i.oid = x.indexrelid join pg_namespace as n on n.oid = i.relnamespace
     where n.nspname = $1`,
    [schema],
  )
  const found = new Map(rows.map(({ name, is_valid }) => [name, is_valid]))
  return OWN_INDEXES.flatMap((index) => {
    const isValid = found.get(index.name)
    return isValid ? [] : [{ index, state: isValid === undefined ? 'missing' : 'invalid' }]
  })
}

export interface BloatedTable {
  table: string
  dead: number
  live: number
  bytes: number
  /** Where vacuum is switched off: for this table, for the server, or not at all. */
  off: 'table' | 'server' | null
  last_vacuum_at: Date | null
  /** The session whose old transaction keeps dead rows from being removed. */
  holder: { pid: number; application: string; since: string } | null
}

/** Dead rows that a busy queue may well have between two rounds of vacuum. */
const FEW_DEAD_ROWS = 20_000

/**
 * Tables with far more dead rows than living ones that nobody removes: vacuum is switched off, has not come for long, or is held
 * up by a transaction; both count from `oldMs` on. By the server's clock always: its statistics know no other.
 */
export function listBloated(
  session: Session,
  { schema, database }: Pick<Store, 'schema' | 'database'>,
  oldMs: number,
): Promise<BloatedTable[]> {
  // In PGlite nobody looks at the settings of autovacuum: we do it ourselves.
  const hasAutovacuum = database.kind === 'postgres'
  return session.query(LIST_BLOATED, [schema, FEW_DEAD_ROWS, hasAutovacuum, oldMs])
}

const LIST_BLOATED = `
  with clock as materialized (select clock_timestamp() - $4 * interval '1 millisecond' as old_at),
  -- A vacuum has a snapshot too, which keeps no row: whoever ended it would only make matters worse.
  holder as materialized (
    select pid, application_name as application, to_char(xact_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
    from pg_stat_activity
    where backend_xmin is not null and pid <> pg_backend_pid() and datname = current_database()
      and xact_start < (select old_at from clock) and pid not in (select pid from pg_stat_progress_vacuum)
    order by xact_start limit 1
  ),
  -- Its statistics are lost where the server crashes, and begin with the table.
  born as materialized (select greatest(max(applied_at), pg_postmaster_start_time()) as at from {schema}.migrations),
  bloated as materialized (
    select s.relid, s.relname, s.n_dead_tup, s.n_live_tup, greatest(s.last_vacuum, s.last_autovacuum) as last_vacuum_at,
      case when not $3 then null
        when (select not option_value::boolean from pg_options_to_table(c.reloptions) where option_name = 'autovacuum_enabled')
          then 'table'
        when current_setting('autovacuum') = 'off' then 'server' end as off
    from pg_stat_user_tables as s join pg_class as c on c.oid = s.relid
    where s.schemaname = $1 and s.n_dead_tup > $2 and s.n_dead_tup > 2 * s.n_live_tup
  )
  select b.relname::text as table, b.n_dead_tup as dead, b.n_live_tup as live, pg_total_relation_size(b.relid) as bytes, b.off,
    b.last_vacuum_at, (select to_json(holder) from holder) as holder
  from bloated as b
  where b.off is not null or coalesce(b.last_vacuum_at, (select at from born)) < (select old_at from clock)
    or exists (select from holder)
  order by b.n_dead_tup desc`
