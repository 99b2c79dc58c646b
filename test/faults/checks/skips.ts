/** Whether a skip can be: by the policies of its schedule, and by what was so when it was decided. */

import { SHORT_GRACE_MS } from '../cast.js'
import { planTimesOf } from '../grids.js'
import type { Expectation, Expected } from '../oracle.js'
import type { Outage } from './breakers.js'
import { at, SLACK_MS } from './finding.js'
import { isLaned } from './lanes.js'
import type { RunRow, SkipRow } from './ledger.js'
import type { Storms } from './storms.js'

export interface Circumstances {
  /** The runs of the same schedule and scope. */
  runs: readonly RunRow[]
  /** When its breaker had taken it out. */
  outages: readonly Outage[]
  storms: Storms
}

/** Why a skip cannot be; null where it can. */
export function whyIllegal(
  { role }: Expected,
  occurrence: Expectation,
  skip: SkipRow,
  { runs, outages, storms }: Circumstances,
): string | null {
  const { policies } = role
  const { planTime } = occurrence
  switch (skip.reason) {
    case 'paused':
      return occurrence.epochs.some(({ isPaused }) => isPaused) ? null : 'and was not paused'
    case 'operator':
      return occurrence.isWished === false ? 'which nobody asked for' : null
    case 'overlap': {
      if (!isLaned(policies)) return 'although runs of it may overlap'
      const open = runs.filter((run) => isOpenAt(run, skip.decidedAt) && run.planTime !== planTime)
      const needed = policies.overlap === 'queue' ? 2 : 1
      return open.length >= needed ? null : `at ${at(skip.decidedAt)}, when ${open.length} others were open`
    }
    case 'broken':
      if (!policies.breaker) return 'although it has no breaker'
      return isOut(outages, planTime, storms) ? null : 'and had not broken'
    case 'missed': {
      if (policies.catchUp === 'all') return 'although all are caught up'
      const lateMs = skip.decidedAt - planTime
      if (lateMs < SHORT_GRACE_MS) return `${lateMs} ms after its time, which is within the grace`
      if (policies.catchUp !== 'latest') return null
      const hasNewer = occurrence.epochs.some(
        ({ content }) => planTimesOf(content, skip.last + 1, skip.decidedAt).length > 0,
      )
      return hasNewer ? null : `at ${at(skip.decidedAt)}, although it was the latest`
    }
    default:
      return 'which cannot be here'
  }
}

/** Whether the breaker had taken it out by then, or while it waited to be decided. */
export function isOut(outages: readonly Outage[], planTime: number, storms: Storms): boolean {
  return outages.some(
    ({ brokeAt, ended }) =>
      brokeAt <= storms.dueBy(planTime) && (ended === null || ended.t1 >= planTime - SLACK_MS),
  )
}

function isOpenAt({ createdAt, finishedAt }: RunRow, instant: number): boolean {
  return createdAt <= instant + SLACK_MS && (finishedAt === null || finishedAt >= instant - SLACK_MS)
}
