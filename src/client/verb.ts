import type { EventBus } from '../events/bus.js'
import { type ScheduleAct, tellActs } from '../events/schedule-events.js'
import type { JobRegistry } from '../runs/job-registry.js'
import { lockSchedules, notify, readNow } from '../store/queries/schedules.js'
import type { ScheduleRow } from '../store/rows.js'
import type { Session, Store } from '../store/store.js'
import { BacklogLeft, type ChangeContext, endPauses, ScopesNeeded, settle } from './change.js'
import { scheduleNotFound } from './schedule-errors.js'
import { askProviders, type ProvidedScopes } from './scopes.js'

/** What the verbs work with. */
export interface VerbParts {
  store: Store
  jobs: JobRegistry
  bus: EventBus
  /** The version of the zone data that this process computes with. */
  zoneData: string
}

export interface VerbOptions {
  /** Who asks, for the change log. */
  actor?: string
}

export interface EditOptions extends VerbOptions {
  /** Refuse with `version_conflict` if the schedule is at another version than the one you have seen. */
  expectedVersion?: number
}

/**
 * Runs a verb in one transaction, with the cursors of the named schedules locked in the order of their ids. Schedulers
 * and listeners are told after it. Where it turns out that scopes are needed which `scopes` does not hold, the
 * transaction is given up, their providers are asked, and it begins anew. Where more is due than one transaction
 * settles, the backlog is settled first, part by part.
 */
export async function withLocked<T>(
  parts: VerbParts,
  names: readonly string[],
  options: { action: string; actor: string | undefined; scopes?: ProvidedScopes },
  work: (context: ChangeContext, rows: ScheduleRow[]) => Promise<T>,
): Promise<T> {
  const { store, jobs, bus, zoneData } = parts
  const scopes = new Map(options.scopes)
  async function attempt<R>(step: (context: ChangeContext, rows: ScheduleRow[]) => Promise<R>): Promise<R> {
    const acts: ScheduleAct[] = []
    const done = await store.transaction(async (session) => {
      const { rows, now } = await lockNamed(session, names)
      const { action, actor = null } = options
      const context = { session, channel: store.channel, now, action, actor, scopes, acts, zoneData }
      const hasChanged = await endPauses(context, rows)
      const result = await step(context, hasChanged ? (await lockNamed(session, names)).rows : rows)
      await notify(session, store.channel, 'schedules')
      return result
    })
    tellActs(bus, acts)
    return done
  }
  async function attemptWithScopes<R>(
    step: (context: ChangeContext, rows: ScheduleRow[]) => Promise<R>,
  ): Promise<R> {
    for (;;) {
      try {
        return await attempt(step)
      } catch (error) {
        if (!(error instanceof ScopesNeeded)) throw error
        // One that fails is missed only where something is due: see `settle`.
        const given = await askProviders(jobs, error.jobs, await readNow(store), () => {})
        for (const job of error.jobs) scopes.set(job, given.get(job) ?? null)
      }
    }
  }
  for (;;) {
    try {
      return await attemptWithScopes(work)
    } catch (error) {
      if (!(error instanceof BacklogLeft)) throw error
      while (!(await attemptWithScopes((context, rows) => settle(context, rows))));
    }
  }
}

/** One that was renamed while we waited for its lock is not the one that was asked for. */
async function lockNamed(session: Session, names: readonly string[]) {
  const { rows, now } = await lockSchedules(session, names)
  return { rows: rows.filter(({ name }) => names.includes(name)), now }
}

/** The same for one schedule that must exist. */
export function withLockedOne<T>(
  parts: VerbParts,
  name: string,
  options: { action: string; actor: string | undefined },
  work: (context: ChangeContext, row: ScheduleRow) => Promise<T>,
): Promise<T> {
  return withLocked(parts, [name], options, async (context, [row]) => {
    if (!row) throw await scheduleNotFound(context.session, name)
    return work(context, row)
  })
}
