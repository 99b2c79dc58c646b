import type { Role } from '../cast.js'
import { at, type Report, SLACK_MS } from './finding.js'
import { groupBy } from './grouping.js'
import type { Ledger, RunRow } from './ledger.js'
import { firstStarts, timeOf, type Witnesses } from './witnesses.js'

/** Of a schedule whose runs may not overlap, no handler begins before the run that began before it has ended. */
export function checkLanes(
  cast: readonly Role[],
  witnesses: Witnesses,
  ledger: Ledger,
  report: Report,
): number {
  const { runs, names } = ledger
  let begun = 0
  const starts = firstStarts(witnesses)
  const laned = new Set(cast.flatMap(({ name, policies }) => (isLaned(policies) ? [name] : [])))
  const replacing = new Set(
    cast.flatMap(({ name, policies }) => (policies.overlap === 'replace' ? [name] : [])),
  )
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
      const name = names.get(run.scheduleId!)!
      const freedAt = putBackAt(before, start) ?? before.finishedAt
      if (freedAt !== null && freedAt <= start + SLACK_MS) return
      const end = before.finishedAt === null ? 'is open' : `ended at ${at(before.finishedAt)}`
      const told = `${before.trigger}, ${before.state}, attempt ${before.attempt}`
      report('overlap', run.id, `${name} began at ${at(start)}, and ${before.id} (${told}) ${end}`)
    })
  }
  return begun

  /**
   * A backfilled run that waits for its next attempt is put back where others would be replaced: when the attempt ended that
   * had begun last by then, if it came to nothing.
   */
  function putBackAt({ id, trigger, scheduleId }: RunRow, then: number): number | undefined {
    if (trigger !== 'backfill' || !replacing.has(names.get(scheduleId!)!)) return undefined
    const begun = witnesses.lines.filter(
      (line) => line.what === 'start' && line.run === id && timeOf(line) <= then,
    )
    const last = Math.max(...begun.map(({ attempt }) => attempt))
    return ledger.attempts.find(({ run, number }) => run === id && number === last)?.finishedAt
  }
}

export const isLaned = ({ overlap = 'allow' }: Role['policies']) => overlap !== 'allow'
