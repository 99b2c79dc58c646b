const MARK = '/* escapement: '

/**
 * Marks a statement that is run so often that planning it anew each time would cost as much as running it: sessions of ours
 * keep it prepared, with its plan. So it must have one good plan, whatever its parameters are. In `pg_stat_activity`
 * the mark says what it is for.
 */
export function often(purpose: string, statement: string): string {
  return `${MARK}${purpose} */ ${statement}`
}

export function isOften(text: string): boolean {
  return text.startsWith(MARK)
}

/**
 * Rows from lists that are given as parameters, side by side and numbered from 1, for statements that stay prepared. The server takes
 * lists of unknown length for ten entries, and joins what comes of them row by row; a series of unknown length it takes for a thousand.
 */
export function many(...lists: readonly string[]): string {
  const [first] = lists
  return `rows from (${lists.map((list) => `unnest(${list})`).join(', ')}, generate_series(1, cardinality(${first})))`
}
