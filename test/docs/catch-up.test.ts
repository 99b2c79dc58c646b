import { it } from 'vitest'
import { type Plan, type Plannable, planOccurrences } from '../../src/schedules/plan.js'
import { parseSchedule, type ScheduleDefinition } from '../../src/schedules/schedule.js'
import { compileTiming, every } from '../../src/time/timing.js'
import { evaluate, expectTables } from './tables.js'

const DAY = '2027-03-01T'

it('the page on catching up tells what becomes of an outage from 10:30 to 16:20', () => {
  expectTables('docs/guide/catch-up-and-overlap.md', 'policies', (code) => {
    const plans = plansAfterOutage(evaluate(`(${code})`, {}) as Partial<ScheduleDefinition>)
    const ran = plans.flatMap(({ runs }) => runs.map(({ planTime }) => timeOf(planTime)))
    const skipped = plans.flatMap(({ skips }) =>
      skips.map(({ first, last, reason }) => ({ first, last, reason })),
    )
    const ranges = skipped.map(
      ({ first, last, reason }) => `${[...new Set([timeOf(first), timeOf(last)])].join('–')} \`${reason}\``,
    )
    return [ran.join(', ') || 'none', ranges.join(', ') || '–']
  })
})

/** As schedulers do: until nothing is left that is due. */
function plansAfterOutage(policies: Partial<ScheduleDefinition>): Plan[] {
  const timing = every('1 hour')
  const content = parseSchedule('hourly', { job: 'noop', timing, ...policies })
  const now = Date.parse(`${DAY}16:20:00Z`)
  const schedule: Plannable = {
    id: '01957f0e-8c00-7000-8000-000000000000',
    timing: compileTiming(timing),
    policies: content.policies,
    scopes: ['global'],
    nextAt: Date.parse(`${DAY}11:00:00Z`),
    until: null,
  }
  const plans: Plan[] = []
  while (schedule.nextAt !== null && schedule.nextAt <= now) {
    const plan = planOccurrences(schedule, now)
    plans.push(plan)
    schedule.nextAt = plan.nextAt
  }
  return plans
}

function timeOf(instant: number): string {
  return new Date(instant).toISOString().slice(11, 16)
}
