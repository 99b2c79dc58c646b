/**
 * `after` schedules have no grid. Each plan time is the interval after the end of the run before, or after what enabled the
 * schedule; and as long as it is active, there is a next one.
 */
import { AFTER_SECONDS, isAfter } from '../cast.js'
import type { Epoch, Expected } from '../oracle.js'
import { at, type Report, SLACK_MS } from './finding.js'
import { groupBy } from './grouping.js'
import type { Ledger, RunRow } from './ledger.js'
import type { Storms } from './storms.js'

const INTERVAL_MS = AFTER_SECONDS * 1000

/** Returns how many links were looked at. */
export function checkChains(
  all: readonly Expected[],
  { runs, names, skips }: Ledger,
  { storms, horizon }: { storms: Storms; horizon: number },
  report: Report,
): number {
  let links = 0
  const runsOf = groupBy(runs, ({ scheduleId }) => names.get(scheduleId ?? '') ?? '')
  for (const expected of all.filter(({ role }) => isAfter(role))) {
    const { name } = expected.role
    const own = runsOf.get(name) ?? []
    for (const one of groupBy(own, ({ scheduleId }) => scheduleId).values()) {
      const inOrder = one.toSorted((a, b) => placeOf(a) - placeOf(b))
      inOrder.forEach((run, index) => {
        const illegal = whyIllegal(expected, run, inOrder[index - 1], storms)
        if (index > 0) links += 1
        if (illegal) report('after', run.id, `${name} ${illegal}`)
        if (run.trigger === 'scheduled' && run.createdAt > storms.dueBy(run.planTime!))
          report('late', run.id, `${name} ${at(run.planTime!)} was planned at ${at(run.createdAt)}`)
      })
    }
    for (const since of endsOfChains(expected, own, { storms, horizon }))
      report('lost', name, `idle since ${at(since)}, and no run followed`)
  }
  const laters = new Set(all.flatMap(({ role }) => (isAfter(role) ? [role.name] : [])))
  for (const { scheduleId, reason, first } of skips) {
    const name = names.get(scheduleId) ?? ''
    if (laters.has(name) && reason !== 'paused')
      report('unexpected', `${name} ${at(first)}`, `skipped as ${reason}, although nothing stood in its way`)
  }
  return links
}

const placeOf = ({ planTime, createdAt }: RunRow) => planTime ?? createdAt

function whyIllegal(
  { epochs }: Expected,
  run: RunRow,
  before: RunRow | undefined,
  storms: Storms,
): string | null {
  if (before?.finishedAt === null) return `has another run while ${before.id} is open`
  const ended = before?.finishedAt ?? null
  if (run.planTime === null)
    return ended !== null && run.createdAt < ended ? `was triggered while ${before!.id} was open` : null
  const { planTime } = run
  if (ended !== null && planTime < ended + INTERVAL_MS)
    return `${at(planTime)} is ${planTime - ended} ms after the end of ${before!.id}`
  // What follows an end is written by whoever ends the run, in the same transaction.
  if (ended !== null && planTime <= storms.dueBy(ended) + INTERVAL_MS) return null
  const isEnabled = epochs.some(({ isPaused, from }) => {
    const counted = planTime - INTERVAL_MS
    return !isPaused && counted >= from.t0 - SLACK_MS && counted <= from.t1 + SLACK_MS
  })
  if (isEnabled) return null
  return `${at(planTime)} follows neither from ${before ? `the end of ${before.id}` : 'its beginning'} nor from a verb`
}

/** Since when nothing followed, of each time that something must have. */
function endsOfChains(
  { epochs }: Expected,
  runs: readonly RunRow[],
  { storms, horizon }: { storms: Storms; horizon: number },
): number[] {
  return stretchesOf(epochs).flatMap(({ from, to }) => {
    const last = Math.min(horizon, to === null ? Number.POSITIVE_INFINITY : to.t0)
    const ends = runs.flatMap(({ finishedAt }) =>
      finishedAt !== null && finishedAt > from.t1 && finishedAt < last ? [finishedAt] : [],
    )
    return [from.t1, ...ends].filter((since) => {
      const by = storms.dueBy(since) + INTERVAL_MS
      // While another one is open, its end is what counts.
      if (by >= last || runs.some((run) => isOpenAt(run, since))) return false
      return !runs.some((run) => run.createdAt >= since - SLACK_MS && placeOf(run) <= by)
    })
  })
}

/** In which it was active all the time: an edit leaves what waits as it is. */
function stretchesOf(epochs: readonly Epoch[]): Pick<Epoch, 'from' | 'to'>[] {
  const stretches: Pick<Epoch, 'from' | 'to'>[] = []
  epochs.forEach(({ isPaused, isCreation, from, to }, index) => {
    if (isPaused) return
    if (isCreation || epochs[index - 1]!.isPaused) stretches.push({ from, to })
    else stretches.at(-1)!.to = to
  })
  return stretches
}

const isOpenAt = ({ createdAt, finishedAt }: RunRow, instant: number) =>
  createdAt <= instant && (finishedAt === null || finishedAt > instant)
