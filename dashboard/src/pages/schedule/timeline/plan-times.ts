import { dayOf } from '../../../time/format.ts'
import { type Kind, kindOf, type Occurrence } from './kinds.ts'

/** One plan time with what became of it in each of its scopes. */
export interface PlanTime {
  at: string
  note: string | null
  occurrences: readonly Occurrence[]
}

/** Of occurrences in the order of their plan times. */
export function planTimesOf(occurrences: readonly Occurrence[]): PlanTime[] {
  const found: (PlanTime & { occurrences: Occurrence[] })[] = []
  for (const occurrence of occurrences) {
    const last = found.at(-1)
    if (last?.at === occurrence.planTime) last.occurrences.push(occurrence)
    else found.push({ at: occurrence.planTime, note: occurrence.note, occurrences: [occurrence] })
  }
  return found
}

/** How many of it are of which kind. */
export function kindsOf(occurrences: readonly Occurrence[], now: Date): Map<Kind, number> {
  const counts = new Map<Kind, number>()
  for (const occurrence of occurrences) {
    const kind = kindOf(occurrence, now)
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return counts
}

/** The span of time that plan times are gathered by. */
export type Span = 'day' | 'month' | 'year' | 'ever'

/** How much of a date in figures says which span it is in. */
const KEY_LENGTH: Readonly<Record<Span, number>> = { day: 10, month: 7, year: 4, ever: 0 }
/** Fewer spans than this are no clutter, however little is in each. */
const FEW = 3

/** Days where most hold several, else months or years, else nothing: a schedule of every second and a yearly one are both to be read. */
export function spanOf(planTimes: readonly PlanTime[], zone: string | undefined): Span {
  const days = planTimes.map(({ at }) => dayOf(new Date(at), zone))
  const isGathering = (span: Span) => {
    const spans = new Set(days.map((day) => day.slice(0, KEY_LENGTH[span])))
    return spans.size <= FEW || spans.size * 2 <= planTimes.length
  }
  return (['day', 'month', 'year'] as const).find(isGathering) ?? 'ever'
}

export interface Group {
  key: string
  planTimes: PlanTime[]
}

/** By day, month or year on the wall of the zone, or all together. */
export function groupedBy(span: Span, planTimes: readonly PlanTime[], zone: string | undefined): Group[] {
  const groups: Group[] = []
  for (const planTime of planTimes) {
    const key = dayOf(new Date(planTime.at), zone).slice(0, KEY_LENGTH[span])
    const last = groups.at(-1)
    if (last?.key === key) last.planTimes.push(planTime)
    else groups.push({ key, planTimes: [planTime] })
  }
  return groups
}
