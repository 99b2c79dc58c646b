import type { Chance } from '../chance.js'
import type { EventBus, RunEvent } from '../events/bus.js'
import { tellCancelled, tellCreated } from '../events/run-events.js'
import { type ScheduleAct, tellActs } from '../events/schedule-events.js'
import type { JobRegistry } from '../runs/job-registry.js'
import type { CancelledRun } from '../store/queries/cancelling.js'
import { notify } from '../store/queries/notifying.js'
import { lockSchedules, readNow } from '../store/queries/schedules.js'
import { isDeadlock } from '../store/refusal.js'
import type { ScheduleRow } from '../store/rows.js'
import type { Session, Store } from '../store/store.js'
import { endPauses } from './change.js'
import type { ChangeContext } from './change-context.js'
import { scheduleNotFound } from './schedule-errors.js'
import { askProviders, type ProvidedScopes } from './scopes.js'
import { BacklogLeft, ScopesNeeded, settle } from './settling.js'
import { applyZoneDataTo } from './zone-data.js'

/** What the verbs work with. */
export interface VerbParts {
  store: Store
  jobs: JobRegistry
  bus: EventBus
  /** The version of the zone data that this process computes with. */
  zoneData: string
  chance: Chance
  /** Where it is set, schedules of other groups are as if there were none. */
  group?: string
}

/** What every verb takes. */
export interface VerbOptions {
  /** Who asks, for the change log. */
  actor?: string
}

/** What verbs take that change what a schedule holds or its state. */
export interface EditOptions extends VerbOptions {
  /** Refuse with `version_conflict` if the schedule is at another version than the one you have seen. */
  expectedVersion?: number
}

interface LockOptions {
  action: string
  actor: string | undefined
  /** What is known of scopes already. */
  scopes?: ProvidedScopes
  /** Hears of schedules whose plan times newer zone data moved, once that is committed. */
  onMoved?: (names: readonly string[]) => void
}

type Step<Result> = (context: ChangeContext, rows: ScheduleRow[]) => Promise<Result>

/**
 * Runs a verb in one transaction, with the cursors of the named schedules locked in the order of their ids. Schedulers
 * and listeners are told after it. Where it turns out that scopes are needed that nobody has asked for, the transaction
 * is given up, their providers are asked, and it begins anew. So it does where it waited for a worker in a circle, which may
 * come of lots that are cut meanwhile. Where there is more to decide than one transaction does, that is done first, part by part.
 */
export async function withLocked<T>(
  parts: VerbParts,
  names: readonly string[],
  options: LockOptions,
  work: Step<T>,
): Promise<T> {
  const scopes = new Map(options.scopes)
  const attempt = <R>(step: Step<R>, ifIncomplete: () => R) =>
    lockAndDo(parts, names, { ...options, scopes, step, ifIncomplete })
  let hasBacklog = false
  let deadlocks = 0
  for (;;) {
    try {
      if (hasBacklog) hasBacklog = !(await attempt(settle, () => false))
      else return await attempt(work, refuseBacklog)
    } catch (error) {
      if (error instanceof BacklogLeft) hasBacklog = true
      else if (isDeadlock(error) && deadlocks < MOST_DEADLOCKS) deadlocks += 1
      else if (error instanceof ScopesNeeded) {
        // One that fails is missed only where something is due: see `settle`.
        const { jobs, store } = parts
        const asked = { jobs, clock: store.clock }
        const given = await askProviders(asked, error.jobs, await readNow(store), () => {})
        for (const job of error.jobs) scopes.set(job, given.get(job) ?? null)
      } else throw error
    }
  }
}

const MOST_DEADLOCKS = 3

function refuseBacklog(): never {
  throw new BacklogLeft()
}

/** One transaction: newer zone data and pauses that have ended come first, and then the step. */
async function lockAndDo<R>(
  { store, bus, zoneData, chance, group }: VerbParts,
  names: readonly string[],
  options: LockOptions & { scopes: ProvidedScopes; step: Step<R>; ifIncomplete: () => R },
): Promise<R> {
  const { action, actor = null, scopes, step } = options
  const acts: ScheduleAct[] = []
  const created: RunEvent[] = []
  const replaced: CancelledRun[] = []
  let moved: readonly string[] = []
  const done = await store.transaction(async (session) => {
    const { rows, now } = await lockNamed(session, names, group)
    const told = { acts, created, replaced, ended: new Map<string, ScheduleRow>() }
    const context = { session, channel: store.channel, now, action, actor, scopes, zoneData, chance, ...told }
    const zoned = await applyZoneDataTo(context, rows)
    moved = zoned.moved
    if (!zoned.isComplete) return options.ifIncomplete()
    const hasEnded = await endPauses(context, rows)
    const isChanged = hasEnded || moved.length > 0
    const result = await step(context, isChanged ? (await lockNamed(session, names, group)).rows : rows)
    await notify(session, store.channel, 'schedules')
    return result
  })
  tellCancelled(bus, replaced)
  tellCreated(bus, created)
  tellActs(bus, acts)
  options.onMoved?.(moved)
  return done
}

/** One that was renamed, or moved to another group, while we waited for its lock is not the one that was asked for. */
async function lockNamed(session: Session, names: readonly string[], group: string | undefined) {
  const { rows, now } = await lockSchedules(session, names, group)
  const isAsked = (row: ScheduleRow) =>
    names.includes(row.name) && (group === undefined || row.group === group)
  return { rows: rows.filter(isAsked), now }
}

/** The same for one schedule that must exist. */
export function withLockedOne<T>(
  parts: VerbParts,
  name: string,
  options: { action: string; actor: string | undefined },
  work: (context: ChangeContext, row: ScheduleRow) => Promise<T>,
): Promise<T> {
  return withLocked(parts, [name], options, async (context, [row]) => {
    if (!row) throw await scheduleNotFound(context.session, name, parts.group)
    return work(context, row)
  })
}
