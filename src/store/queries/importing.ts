import { CARRIED_TABLES, type CarriedTable, NUMBERED_TABLES } from '../carried-tables.js'
import { NOW, type Session, type Store } from '../store.js'
import type { Column } from './exporting.js'
import { notify } from './notifying.js'

/** Of two who import at the same time one goes first, and the other finds it done. */
export async function lockExports(session: Session): Promise<void> {
  await session.query('lock table {schema}.exports in share row exclusive mode')
}

/** When an export was imported here; undefined where it was not. */
export async function findImported(session: Session, id: string): Promise<Date | undefined> {
  const [row] = await session.query<{ imported_at: Date }>(
    'select imported_at from {schema}.exports where id = $1 and imported_at is not null',
    [id],
  )
  return row?.imported_at
}

/** What an import would destroy, counted up to a thousand. What processes publish as they start is not meant. */
const PRECIOUS = {
  schedules: 'schedules',
  runs: 'runs_asked',
  changes: 'changes',
  skips: 'skips',
  tokens: 'tokens',
  transitions: 'transition_log',
} as const satisfies Record<string, CarriedTable>

export type Contents = Record<keyof typeof PRECIOUS, number>

export async function countContents(session: Session): Promise<Contents> {
  const counts = Object.entries(PRECIOUS).map(
    ([name, table]) =>
      `(select count(*) from (select from {schema}.${table} limit 1000) as found) as ${name}`,
  )
  const [row] = await session.query<Contents>(`select ${counts.join(', ')}`)
  return row!
}

const ALL_TABLES = CARRIED_TABLES.map((table) => `{schema}.${table}`).join(', ')

/** Before all else, as whoever searches does: it is to be emptied too, where nobody writes since everything was moved away. */
export async function lockWords(session: Session): Promise<void> {
  await session.query('lock table {schema}.schedule_words in access exclusive mode')
}

/** Nobody reads or writes any of it until the transaction has ended. */
export async function lockAll(session: Session): Promise<void> {
  await session.query(`lock table ${ALL_TABLES}, {schema}.transition_quarantine in access exclusive mode`)
}

/** What was set aside goes too: it was said of fields whose numbers are others from here on. */
export async function emptyAll(session: Session): Promise<void> {
  await session.query(`truncate ${ALL_TABLES}, {schema}.schedule_words, {schema}.transition_quarantine`)
}

/** The same where there is next to nothing, in less time. */
export async function clearFew(session: Session): Promise<void> {
  for (const table of [...CARRIED_TABLES, 'transition_quarantine'].reverse()) {
    await session.query(`delete from {schema}.${table}`)
  }
}

/** `rows` is a JSON text: a list of rows as `openRows` of exporting.ts reads them. */
export async function insertRows(
  session: Session,
  { table, columns }: { table: CarriedTable; columns: readonly Column[] },
  rows: string,
): Promise<void> {
  const isJson = ({ type }: Column) => type === 'jsonb'
  await session.query(
    `insert into {schema}.${table} (${columns.map(({ name }) => name).join(', ')}) overriding system value
     select ${columns.map((column) => (isJson(column) ? `${column.name}::jsonb` : column.name)).join(', ')}
     from json_to_recordset($1::json)
       as r (${columns.map((column) => `${column.name} ${isJson(column) ? 'text' : column.type}`).join(', ')})`,
    [rows],
  )
}

/** Numbers of new rows follow those that there are. */
export async function goOnNumbering(session: Session, schema: string): Promise<void> {
  for (const table of NUMBERED_TABLES) {
    await session.query(
      `select setval(pg_get_serial_sequence(format('%I.${table}', $1::text), 'id'), coalesce(max(id), 1), max(id) is not null)
       from {schema}.${table}`,
      [schema],
    )
  }
}

/** Notes where all of this came from: from here on it is here. */
export async function recordImport(
  session: Session,
  { id, mode, takenAt, takenBy }: { id: string; mode: string; takenAt: string; takenBy: string | null },
): Promise<void> {
  await session.query(`update {schema}.exports set imported_at = ${NOW} where imported_at is null`, [
    session.now(),
  ])
  await session.query(
    `insert into {schema}.exports (id, mode, taken_at, taken_by, imported_at) values ($2, $3, $4, $5, ${NOW})
     on conflict (id) do nothing`,
    [session.now(), id, mode, takenAt, takenBy],
  )
}

/** Workers of another database hold nothing here: what they worked on is taken from them as from any that is lost. */
export async function endForeignLeases(session: Session): Promise<void> {
  await session.query(
    `with lots as (
       update {schema}.lots set lease_expires_at = least(lease_expires_at, ${NOW}) where lease_token is not null
     )
     update {schema}.runs_open set lease_expires_at = least(lease_expires_at, ${NOW}) where state = 'running'`,
    [session.now()],
  )
}

/** So that the first statements after it are planned for what there is. */
export async function analyzeAll(session: Session): Promise<void> {
  await session.query(`analyze ${ALL_TABLES}, {schema}.schedule_words`)
}

export async function wakeAll(session: Session, { channel }: Store): Promise<void> {
  await notify(session, channel, 'schedules')
  await notify(session, channel, 'runs')
}
