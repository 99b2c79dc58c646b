import type { Role } from '../cast.js'
import { at, type Report, SLACK_MS } from './finding.js'
import { groupBy } from './grouping.js'
import type { Ledger } from './ledger.js'
import { firstStarts, type Witnesses } from './witnesses.js'

/** Of a schedule whose runs may not overlap, no handler begins before the run that began before it has ended. */
export function checkLanes(
  cast: readonly Role[],
  witnesses: Witnesses,
  { runs, names }: Ledger,
  report: Report,
): number {
  let begun = 0
  const starts = firstStarts(witnesses)
  const laned = new Set(cast.flatMap(({ name, policies }) => (isLaned(policies) ? [name] : [])))
  const own = runs.filter(
    ({ id, scheduleId }) => laned.has(names.get(scheduleId ?? '') ?? '') && starts.has(id),
  )
  for (const lane of groupBy(own, ({ scheduleId, scope }) => `${scheduleId} ${scope}`).values()) {
    const inOrder = lane
      .map((run) => ({ run, start: starts.get(run.id)! }))
      // A handler that was about to begin when its run was replaced begins, and is told that it is over.
      .filter(({ run, start }) => run.finishedAt === null || start < run.finishedAt)
      .sort((a, b) => a.start - b.start)
    begun += inOrder.length
    inOrder.slice(1).forEach(({ run, start }, index) => {
      const { run: before } = inOrder[index]!
      if (before.finishedAt !== null && before.finishedAt <= start + SLACK_MS) return
      const name = names.get(run.scheduleId!)
      const end = before.finishedAt === null ? 'is open' : `ended at ${at(before.finishedAt)}`
      report('overlap', run.id, `${name} began at ${at(start)}, and ${before.id} ${end}`)
    })
  }
  return begun
}

export const isLaned = ({ overlap = 'allow' }: Role['policies']) => overlap !== 'allow'
