import type { Role } from '../cast.js'
import { at, type Report } from './finding.js'
import type { Ledger } from './ledger.js'

const TRIGGERS = new Set(['scheduled', 'manual', 'backfill', 'direct'])

/** Runs and skips that belong to nothing that anybody put, and runs that are there before their time. */
export function checkStrangers(cast: readonly Role[], { runs, skips, names }: Ledger, report: Report): void {
  const roles = new Map(cast.map((role) => [role.name, role]))
  const roleOf = (scheduleId: string | null) => roles.get(names.get(scheduleId ?? '') ?? '')
  for (const { id, scheduleId, scope, planTime, trigger, job, createdAt } of runs) {
    if (planTime !== null && createdAt < planTime)
      report('early', id, `${names.get(scheduleId ?? '')} ${at(planTime)} was planned at ${at(createdAt)}`)
    if (!TRIGGERS.has(trigger)) report('unexpected', id, `a run of the trigger ${trigger}`)
    if (trigger === 'direct') {
      if (scheduleId !== null) report('unexpected', id, `a direct run of the schedule ${scheduleId}`)
      continue
    }
    const role = roleOf(scheduleId)
    if (!role) report('unexpected', id, `a ${trigger} run of the schedule ${scheduleId}, which nobody made`)
    else if (!role.scopes.includes(scope ?? ''))
      report('unexpected', id, `a run of ${role.name} in the scope ${scope}, which it does not have`)
    else if (job !== role.job) report('unexpected', id, `a run of ${role.name} with the job ${job}`)
    if (planTime === null && trigger !== 'manual')
      report('unexpected', id, `a ${trigger} run of ${role?.name} without a plan time`)
  }
  for (const { scheduleId, scope, first } of skips) {
    const role = roleOf(scheduleId)
    if (!role?.scopes.includes(scope))
      report('unexpected', `${scheduleId} ${scope} ${at(first)}`, `a skip of ${role?.name ?? 'no schedule'}`)
  }
}
