import { DEFAULT_WINDOW_OF_ALL } from '../schedules/policies.js'
import type { ScheduleContent, ScheduleDefinition } from '../schedules/schedule.js'

/** A definition that yields this content again: what `patch` changes single fields of. */
export function definitionOf(content: ScheduleContent): ScheduleDefinition {
  const { policies, group, scopes, description, metadata, startAt, endAt, limit, ...always } = content
  const { catchUpWindow: window, ...others } = policies
  // The window that `all` has by default is not the caller's: another catch-up must not inherit it.
  const catchUpWindow = others.catchUp === 'all' && window === DEFAULT_WINDOW_OF_ALL ? null : window
  const optional = { group, scopes, description, metadata, startAt, endAt, limit, catchUpWindow }
  const given = Object.entries(optional).filter(([, value]) => value !== null)
  return { ...always, ...others, ...Object.fromEntries(given) } as ScheduleDefinition
}
