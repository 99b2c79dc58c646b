import type { TransitionChange } from '../transitions/change.js'

/** One line for a person: `posts 42: status draft → published`. */
export function describeChange({ table, key, action, column, from, to }: TransitionChange): string {
  const row = `${table} ${Object.values(key).join(', ')}`
  if (action === 'set') return `${row}: ${column} ${String(from)} → ${String(to)}`
  return `${row}: ${action === 'softDelete' ? 'soft-deleted' : 'deleted'}`
}
