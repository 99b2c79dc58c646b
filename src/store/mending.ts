/** Statements that a person may run to mend what `doctor` has found, or to look closer. Nothing here runs them. */
import type { OwnIndex } from './own-indexes.js'
import { quoteIdentifier } from './store.js'

/** `concurrently` keeps nobody from writing meanwhile, and is for servers. */
interface BuildOptions {
  concurrently: boolean
}

const how = ({ concurrently }: BuildOptions) => (concurrently ? ' concurrently' : '')
const qualified = (schema: string, name: string) => `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`

export function createOwnIndexSql(
  schema: string,
  { table, name, definition }: OwnIndex,
  options: BuildOptions,
): string {
  const [, what, over] = /^(INDEX|UNIQUE INDEX|PRIMARY KEY|UNIQUE) (USING .+)$/.exec(definition)!
  const relation = qualified(schema, table)
  const index = what === 'INDEX' ? 'index' : 'unique index'
  const create = `create ${index}${how(options)} ${quoteIdentifier(name)} on ${relation} ${over};`
  if (what!.endsWith('INDEX')) return create
  return `${create} alter table ${relation} add ${what!.toLowerCase()} using index ${quoteIdentifier(name)};`
}

/** `definition` is all but the beginning. */
export function createDueIndexSql({ definition }: { definition: string }, options: BuildOptions): string {
  return `create index${how(options)} ${definition};`
}

/** Builds one anew that is there and not whole. */
export function rebuildIndexSql(schema: string, name: string, options: BuildOptions): string {
  return `reindex index${how(options)} ${qualified(schema, name)};`
}

export function vacuumSql(schema: string, table: string): string {
  return `vacuum (analyze) ${qualified(schema, table)};`
}

export function allowVacuumSql(schema: string, table: string, off: 'table' | 'server'): string {
  return off === 'table'
    ? `alter table ${qualified(schema, table)} reset (autovacuum_enabled);`
    : 'alter system set autovacuum = on; select pg_reload_conf();'
}

export function endSessionSql(pid: number): string {
  return `select pg_terminate_backend(${pid});`
}

export const IS_WRITABLE_SQL = `select pg_is_in_recovery(), current_setting('default_transaction_read_only');`
export const NOTIFICATION_QUEUE_SQL = 'select pg_notification_queue_usage();'
