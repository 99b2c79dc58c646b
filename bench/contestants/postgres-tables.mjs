/** Emptied as new, with nothing left for autovacuum to do in somebody else's turn. */
export async function emptyTables(query, tables) {
  await query(`truncate ${tables.join(', ')} cascade`)
  await settleTables(query, tables)
}

export async function settleTables(query, tables) {
  await query(`vacuum analyze ${tables.join(', ')}`)
  await query('checkpoint')
}

/** Statements of this database's clients so far, without those that ask for it. */
export const COUNT_STATEMENTS = `
  select coalesce(sum(calls), 0)::float8 as statements from pg_stat_statements
  where dbid = (select oid from pg_database where datname = current_database()) and query not like '%pg_stat_statements%'`
