import type { ScheduleContent, ScheduleDefinition } from '../schedules/schedule.js'

/** A definition that yields this content again: what `patch` changes single fields of. */
export function definitionOf(content: ScheduleContent): ScheduleDefinition {
  const { policies, group, scopes, description, metadata, startAt, endAt, limit, ...always } = content
  const { catchUpWindow, ...others } = policies
  const optional = { group, scopes, description, metadata, startAt, endAt, limit, catchUpWindow }
  const given = Object.entries(optional).filter(([, value]) => value !== null)
  return { ...always, ...others, ...Object.fromEntries(given) } as ScheduleDefinition
}
