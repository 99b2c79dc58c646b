/**
 * What an export carries, in an order in which it can be stored: what is referred to comes first. A test holds both lists to
 * the catalogue.
 */
export const CARRIED_TABLES = [
  'schedules',
  'cursors',
  'skip_requests',
  'skips',
  'changes',
  'jobs',
  'control',
  'tokens',
  'transition_fields',
  'transition_log',
  'runs_asked',
  'runs_open',
  'lots',
  'runs_ended',
  'attempts',
  'run_minutes',
  'exports',
] as const

export type CarriedTable = (typeof CARRIED_TABLES)[number]

/**
 * What stays: the schema's own record, what follows from schedules, what processes say of themselves, and rows that were set
 * aside in a version that only their own database has.
 */
export const LEFT_TABLES = ['migrations', 'schedule_words', 'workers', 'transition_quarantine'] as const

/** Rows of a table that stay as well: sessions of browsers. */
export const CARRIED_ROWS: Partial<Record<CarriedTable, string>> = { tokens: 'parent_id is null' }

/** Columns that number their rows, which go on after those that were carried. */
export const NUMBERED_TABLES = ['changes', 'transition_fields'] as const satisfies readonly CarriedTable[]

export function isCarried(table: string): table is CarriedTable {
  return (CARRIED_TABLES as readonly string[]).includes(table)
}
