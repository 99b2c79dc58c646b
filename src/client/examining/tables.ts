import {
  allowVacuumSql,
  createDueIndexSql,
  createOwnIndexSql,
  endSessionSql,
  rebuildIndexSql,
  vacuumSql,
} from '../../store/mending.js'
import { type BloatedTable, listBloated, listDamagedIndexes } from '../../store/queries/table-symptoms.js'
import { dueIndex, type IndexState, readIndexStates } from '../../store/queries/transition-indexes.js'
import { findSetAside, listSetAsideElsewhere, type SetAside } from '../../store/queries/transition-log.js'
import { readWithin, type Session, type Store } from '../../store/store.js'
import type { SweptTable } from '../../transitions/table.js'
import { counted, type Diagnosis, MOST_COUNTED, timeOf, told } from '../diagnosis.js'

/** Thirty rounds of autovacuum. */
const VACUUM_LATE_MS = 1_800_000

/** Our own indexes, and those by which the rows of declared tables are found when they are due. */
export async function examineIndexes(
  session: Session,
  { schema, database }: Store,
  tables: readonly SweptTable[],
): Promise<Diagnosis[]> {
  const how = { concurrently: database.kind === 'postgres' }
  const damaged: { name: string; table: string; state: IndexState; command: string }[] = []
  for (const { index, state } of await listDamagedIndexes(session, schema)) {
    const { name } = index
    const rebuild =
      state === 'missing' ? createOwnIndexSql(schema, index, how) : rebuildIndexSql(schema, name, how)
    damaged.push({ name, table: `${schema}.${index.table}`, state, command: rebuild })
  }
  for (const table of tables) {
    const indexes = table.fields.map((field) => dueIndex(table, field))
    for (const [index, state] of await readIndexStates(session, table, indexes)) {
      if (state === 'valid') continue
      const { name } = index
      const rebuild =
        state === 'missing' ? createDueIndexSql(index, how) : rebuildIndexSql(table.schema, name, how)
      damaged.push({ name, table: table.name, state, command: rebuild })
    }
  }
  return told('missing_index', damaged, ({ name, table, state, command }) => ({
    subject: name,
    detail:
      state === 'missing'
        ? `an index of ${table} is not there`
        : `an index of ${table} is not whole, so that nobody uses it`,
    fix: how.concurrently
      ? 'build it: nobody who reads or writes waits for that'
      : 'build it, by escapement.database.query',
    command,
  }))
}

export async function examineBloat(session: Session, store: Store): Promise<Diagnosis[]> {
  return told('bloat', await listBloated(session, store, VACUUM_LATE_MS), (found) => ({
    subject: `${store.schema}.${found.table}`,
    detail:
      `${counted(found.dead, 'dead row', 'dead rows')} beside ${found.live.toLocaleString('en-US')} living ones in ${megabytes(found.bytes)}; ` +
      causeOf(found),
    ...mending(found, store.schema),
  }))
}

function causeOf({ off, holder, last_vacuum_at }: BloatedTable): string {
  if (off !== null) return `autovacuum is switched off for this ${off}`
  if (holder)
    return `a transaction that is open since ${holder.since} keeps them (process ${holder.pid}, ${holder.application || 'unnamed'})`
  return `autovacuum ${last_vacuum_at === null ? 'has never come' : `came last at ${timeOf(last_vacuum_at)}`}`
}

function mending({ table, off, holder }: BloatedTable, schema: string): { fix: string; command: string } {
  const vacuum = vacuumSql(schema, table)
  if (off !== null) {
    return { fix: 'switch it on again', command: `${allowVacuumSql(schema, table, off)} ${vacuum}` }
  }
  if (holder) return { fix: 'end that transaction, or its session', command: endSessionSql(holder.pid) }
  return {
    fix: 'vacuum it, and give autovacuum more room (autovacuum_max_workers, autovacuum_vacuum_cost_limit)',
    command: vacuum,
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_048_576).toLocaleString('en-US', { maximumFractionDigits: 1 })} MB`
}

/** Rows that a transition could not change. Nothing is forgotten by looking: sweeps do that. */
export async function examineQuarantine(
  store: Store,
  tables: readonly SweptTable[],
  withinMs: number,
): Promise<Diagnosis[]> {
  const found: (SetAside & { table: string; field: string })[] = []
  for (const table of tables) {
    for (const field of table.fields) {
      const aside = await findSetAside(store, table, field, { most: MOST_COUNTED, withinMs })
      if (aside) found.push({ ...aside, table: `${table.schema}.${table.table}`, field: field.name })
    }
  }
  const fields = tables.flatMap((table) => table.fields.map(({ id }) => id))
  const elsewhere = { fields, most: MOST_COUNTED }
  found.push(...(await readWithin(store, withinMs, (session) => listSetAsideElsewhere(session, elsewhere))))
  return told('quarantined', found, ({ table, field, rows, key, message }) => ({
    subject: `${table} by ${field}`,
    detail: `${rows >= MOST_COUNTED ? 'at least ' : ''}${rows} ${rows === 1 ? 'row' : 'rows'} could not be changed, first ${key}: ${message}`,
    fix: 'mend the rows, which then are tried again by themselves; if the fault was elsewhere, have all of them tried again',
    command: 'escapement sweep --quarantined',
  }))
}
