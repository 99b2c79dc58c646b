import type { NoticeRule } from '../../runs/notification.js'
import type { RunTrigger } from '../../runs/run.js'
import type { Session, Store } from '../store.js'
import { type EndedRun, type Followed, followEnds, followLater, lockForEnds } from './ends.js'
import { lockLots, unpackClaimed } from './lots.js'
import { insertNotices, isTold, type Noticing } from './notices.js'
import {
  isPlain,
  listWrittenBefore,
  type WrittenRow,
  writeFailures,
  writeLotSuccesses,
  writePlainSuccesses,
  writeSuccesses,
} from './outcome-writing.js'

/** How one attempt ended, as it is written down. */
export type Outcome = {
  runId: string
  leaseToken: string
  /** The lot in which it was claimed; null for one that had a row of its own. */
  lotId: string | null
  /** Of a run that is an occurrence or was triggered: what of its schedule may have to follow. */
  of: {
    scheduleId: string
    trigger: RunTrigger
    planTime: Date | null
    isLaned: boolean
    hasBreaker: boolean
  } | null
  totals: Readonly<Record<string, number>> | null
} & (
  | { state: 'succeeded'; result: string }
  | {
      state: 'retrying' | 'failed' | 'skipped'
      delayMs: number
      code: string
      message: string
      stack: string | null
    }
)

export interface Recorded extends Followed {
  /** Whether each outcome counted, in the order in which they were given. */
  counted: boolean[]
  /** Runs that got a lane after they were claimed: what follows of them is left to `followLater`, after the commit. */
  unlocked: EndedRun[]
}

/**
 * Writes down any number of outcomes. Each is fenced: it counts only while its run has the lease token that it names. Ended
 * runs keep their token, so one that was recorded under it before, by a statement whose answer was lost, counts too.
 */
export async function recordOutcomes(
  store: Store,
  outcomes: readonly Outcome[],
  rules: readonly NoticeRule[],
): Promise<Recorded> {
  const { channel } = store
  const recorded =
    outcomes.some(mayFollow) || mayBeTold(outcomes, rules)
      ? await store.transaction((session) => recordIn(session, outcomes, { channel, rules }))
      : await recordAlone(store, outcomes)
  const { broken, notices } = await followLater(store, recorded.unlocked, rules)
  recorded.broken.push(...broken)
  recorded.notices.push(...notices)
  return recorded
}

function mayBeTold(outcomes: readonly Outcome[], rules: readonly NoticeRule[]): boolean {
  return isTold(rules, 'run.failed') && outcomes.some(({ state }) => state === 'failed')
}

async function recordAlone(session: Session, outcomes: readonly Outcome[]): Promise<Recorded> {
  const { counted, ended } = await record(session, outcomes)
  return { counted, broken: [], notices: [], unlocked: ended.filter(({ lane }) => lane !== null) }
}

/** The same in a transaction that is under way: with what a transactional handler has written. */
export async function recordIn(
  session: Session,
  outcomes: readonly Outcome[],
  noticing: Noticing,
): Promise<Recorded> {
  const locked = await lockForEnds(session, outcomes.filter(mayFollow).map(endOf))
  const { counted, ended, failed } = await record(session, outcomes)
  const isLocked = ({ schedule_id }: EndedRun) => locked.has(schedule_id)
  const broken = await followEnds(session, ended.filter(isLocked))
  return {
    counted,
    broken,
    notices: await insertNotices(session, noticing, { failed, broken }),
    unlocked: ended.filter((end) => end.lane !== null && !isLocked(end)),
  }
}

function mayFollow({ of }: Outcome): boolean {
  return of !== null && (of.isLaned || of.hasBreaker)
}

function endOf({ of, state, totals }: Outcome): EndedRun {
  return {
    schedule_id: of!.scheduleId,
    state,
    trigger: of!.trigger,
    plan_time: of!.planTime,
    has_errors: (totals?.errors ?? 0) > 0,
    has_breaker: of!.hasBreaker,
    lane: of!.isLaned ? 0 : null,
  }
}

async function record(
  session: Session,
  outcomes: readonly Outcome[],
): Promise<{ counted: boolean[]; ended: EndedRun[]; failed: string[] }> {
  const counted = outcomes.map(() => false)
  const ended: EndedRun[] = []
  const failed: string[] = []
  const write = async (
    statement: (session: Session, group: never) => Promise<WrittenRow[]>,
    group: Placed[],
  ) => {
    if (group.length === 0) return
    for (const { position, lane } of await statement(session, group.map(({ outcome }) => outcome) as never)) {
      const { outcome, index } = group[position - 1]!
      counted[index] = true
      if (outcome.of !== null) ended.push({ ...endOf(outcome), lane })
      if (outcome.state === 'failed') failed.push(outcome.runId)
    }
  }
  // Runs are locked in the order of their ids, whoever locks them.
  const placed = outcomes
    .map((outcome, index) => ({ outcome, index }))
    .sort((a, b) => (a.outcome.runId < b.outcome.runId ? -1 : 1))
  const hasSucceeded = ({ outcome }: Placed) => outcome.state === 'succeeded'
  // Lots are locked in the order of their ids as well: of a failure only after the successes would be too late.
  if (!placed.every(hasSucceeded)) {
    await lockLots(
      session,
      outcomes.flatMap(({ lotId }) => lotId ?? []),
    )
  }
  const isOpen = ({ index }: Placed) => !counted[index]
  await write(
    writeLotSuccesses,
    placed.filter((one) => hasSucceeded(one) && one.outcome.lotId !== null),
  )
  // Those of a lot that were not in it have a row of their own since, or are no longer this attempt's.
  const alone = placed.filter(isOpen)
  await write(
    writePlainSuccesses,
    alone.filter(({ outcome }) => isPlain(outcome)),
  )
  await write(
    writeSuccesses,
    alone.filter((one) => hasSucceeded(one) && !isPlain(one.outcome)),
  )
  const failures = alone.filter((one) => !hasSucceeded(one))
  await unpackClaimed(
    session,
    failures.flatMap(({ outcome: { runId, lotId } }) => (lotId === null ? [] : { runId, lotId })),
  )
  await write(writeFailures, failures)
  const refused = placed.filter(isOpen)
  const before = await listWrittenBefore(
    session,
    refused.map(({ outcome }) => outcome),
  )
  for (const position of before) counted[refused[position - 1]!.index] = true
  return { counted, ended, failed }
}

interface Placed {
  outcome: Outcome
  /** In the list that was given. */
  index: number
}

/** Whether it was written down, by a transaction whose answer did not arrive. */
export async function wasRecorded(session: Session, outcome: Outcome): Promise<boolean> {
  return (await listWrittenBefore(session, [outcome])).length > 0
}
