import { defaultWindow } from '../schedules/policies.js'
import type { ScheduleContent, ScheduleDefinition } from '../schedules/schedule.js'

/** A definition that yields this content again: what `patch` changes single fields of. */
export function definitionOf(content: ScheduleContent): ScheduleDefinition {
  const { policies, group, scopes, description, metadata, startAt, endAt, limit, ...always } = content
  const { catchUpWindow: window, ...others } = policies
  // A window by default is not the caller's: another catch-up, or another timing, must not inherit it.
  const catchUpWindow = window === defaultWindow(others.catchUp, content.timing.kind) ? null : window
  const optional = { group, scopes, description, metadata, startAt, endAt, limit, catchUpWindow }
  const given = Object.entries(optional).filter(([, value]) => value !== null)
  return { ...always, ...others, ...Object.fromEntries(given) } as ScheduleDefinition
}
