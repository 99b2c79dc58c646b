/**
 * Access that is limited to one group. What hides schedules of others is where they are found and locked (`verb.ts`, `findRow`);
 * here is what remains: groups that callers name themselves.
 */
import type { ScheduleDefinition } from '../schedules/schedule.js'
import { forbidden } from './schedule-errors.js'
import type { VerbParts } from './verb.js'

type Limits = Pick<VerbParts, 'group'>

/** A definition that says nothing of its group is meant for the one that its caller is limited to. */
export function inOwnGroup({ group }: Limits, definition: ScheduleDefinition): ScheduleDefinition {
  const isSilent = typeof definition === 'object' && definition !== null && definition.group === undefined
  return group !== undefined && isSilent ? { ...definition, group } : definition
}

/** Whether a filter asks for another group. */
export function isElsewhere({ group: own }: Limits, { group }: { group?: string }): boolean {
  return own !== undefined && group !== undefined && group !== own
}

export function expectOwnGroup({ group: own }: Limits, group: string): void {
  if (own === undefined || own === group) return
  throw forbidden(`group: "${group}" cannot be paused or resumed`, own)
}

/** Page tokens of one group's lists are none of another's. */
export function listOf({ group }: Limits, list: string): string {
  return group === undefined ? list : `${list} of ${group}`
}
