import type { Chance } from '../chance.js'
import type { ChangeContext } from '../client/change-context.js'
import { replaceRuns } from '../client/replacing.js'
import { applyZoneDataTo, isOlder, type ZoneDataReport } from '../client/zone-data.js'
import { monotonicMs } from '../clock.js'
import type { ScheduleAct } from '../events/schedule-events.js'
import type { WorkerCalls } from '../events/worker-calls.js'
import type { Logger } from '../logger.js'
import { type PlannedRun, planOccurrences, possibleCursor, RUNS_AT_ONCE } from '../schedules/plan.js'
import { newestOf } from '../store/front.js'
import type { CancelledRun } from '../store/queries/cancelling.js'
import type { ClaimedRow } from '../store/queries/claiming.js'
import { type EndedSchedule, finishSchedules } from '../store/queries/finishing.js'
import { lockDueHerds, type PlannedHerd, recordHerds } from '../store/queries/herds.js'
import type { Offer } from '../store/queries/planned-lots.js'
import { type DueLimits, type DueSchedule, lockDueSchedules, readLocked } from '../store/queries/planning.js'
import {
  isOvertaken,
  type PlannedDue,
  type Recorded,
  recordDue,
  recordPlans,
} from '../store/queries/recording.js'
import { findSchedules } from '../store/queries/schedules.js'
import { setAside } from '../store/queries/set-aside.js'
import { forgetRequests, readSkipRequests } from '../store/queries/skip-requests.js'
import { isRefusedByServer } from '../store/refusal.js'
import { toPlannable } from '../store/rows.js'
import type { Session, Store } from '../store/store.js'
import type { Instant } from '../time/instant.js'
import { createdInHerd, planHerd } from './herd.js'
import type { ScopesAt } from './providers.js'

export interface TickReport {
  /** How many schedules were due and ours; as many as the limit means that more may be waiting. */
  due: number
  /** How long the look for them took, and since when the last was due; null where none was. */
  lookMs: number
  newest: Instant | null
  /** Whether there was more to do than this tick was to do, or may have been: the rest waits for the next. */
  isCut: boolean
  /** How many runs are new. */
  runs: number
  /** Each of them; made for whoever asks. */
  created(): CreatedRun[]
  /** Those that have no plan time left. */
  ended: EndedSchedule[]
  /** Open runs that a new one has taken the place of. */
  replaced: CancelledRun[]
  /** What newer zone data moved. */
  acts: ScheduleAct[]
  /** Begins with those of the runs that took a place of this process's worker, once it is told of them. */
  begin(): void
}

export interface CreatedRun {
  run: Pick<PlannedRun, 'id' | 'scope' | 'planTime'>
  schedule: Pick<DueSchedule, 'id' | 'name' | 'job'>
}

export const NOTHING_DUE = {
  due: 0,
  newest: null,
  isCut: false,
  runs: 0,
  created: () => [],
  ended: [],
  acts: [],
  replaced: [],
  begin() {},
} satisfies Partial<TickReport>

/** A schedule that cannot be planned is looked at again after this long, so that it does not hold up the others. */
const RETRY_PLANNING_MS = 60_000

/**
 * One pass of the scheduler: takes due schedules in a batch, decides in memory what becomes of their plan times, and
 * writes all of it in one statement. Dying anywhere in here leaves nothing behind: the rows are only locked until
 * the transaction ends, and what it wrote becomes visible at once or not at all.
 *
 * `scopes` holds what the providers gave, by job, and when. They are asked before the transaction: between lock and write
 * nothing but the database is awaited.
 */
export async function tick(
  parts: TickParts,
  limits: TickLimits,
  scopes: ReadonlyMap<string, ScopesAt>,
): Promise<TickReport> {
  try {
    return await tickOnce(parts, limits, scopes, recordDue)
  } catch (error) {
    if (!isOvertaken(error)) throw error
    return tickOnce(parts, { ...limits, inHerds: false }, scopes, null)
  }
}

export interface TickLimits extends DueLimits {
  /** Whether schedules that are alike are to be planned together. It pays where many are due. */
  inHerds: boolean
}

export interface TickParts {
  store: Store
  calls: WorkerCalls
  worker: WorkerHere
  logger: Logger
  zoneData: string
  chance: Chance
}

/** The worker of this process, for whoever plans runs. */
export interface WorkerHere {
  /** The jobs of whose runs it may begin some as they are planned. */
  beginning(): readonly string[]
  /** Whether it would make an offer just now. */
  isAtRest(): boolean
  /** Keeps places free for at most so many; null where it has none, or others stand in line. */
  offer(wanted: number): Offer | null
  /** Called before runs are recorded that may be claimed together. */
  expectLots(): void
}

async function tickOnce(
  parts: TickParts,
  limits: TickLimits,
  scopes: ReadonlyMap<string, ScopesAt>,
  recordLocked: typeof recordDue | null,
): Promise<TickReport> {
  let offer: Offer | null = null
  const recording = {
    recordLocked,
    offerPlaces(planned: readonly PlannedDue[]) {
      offer = placesFor(planned, parts.worker)
      return offer
    },
  }
  try {
    const { leased, ...report } = await parts.calls.around(
      (channel) => tickIn(parts, limits, scopes, { ...recording, channel }),
      ({ runs, leased }) => runs > leased.length,
    )
    return { ...report, begin: () => offer?.begin(leased) }
  } catch (error) {
    const mayBeRecorded = !isOvertaken(error) && !isRefusedByServer(error)
    ;(offer as Offer | null)?.giveUp({ mayBeRecorded })
    throw error
  }
}

async function tickIn(
  { store, worker, logger, zoneData, chance }: TickParts,
  limits: TickLimits,
  scopes: ReadonlyMap<string, ScopesAt>,
  {
    recordLocked,
    offerPlaces,
    channel,
  }: {
    /** Null where something came between, and everything is to be looked at again. */
    recordLocked: typeof recordDue | null
    offerPlaces(planned: readonly PlannedDue[]): Offer | null
    channel: string | null
  },
): Promise<Omit<TickReport, 'begin'> & { leased: ClaimedRow[] }> {
  return store.transaction(async (session) => {
    const locked = await (limits.inHerds ? lockInHerds : lockByRows)(session, limits, zoneData)
    const { now, herds, lookMs } = locked
    if (now === null) return { ...NOTHING_DUE, leased: [], lookMs }
    const context = { session, channel: store.channel, now, zoneData, chance }
    const { due, unplannable, acts } = await withOurZoneData(context, locked.due)
    const requests = await readSkipRequests(
      session,
      due.filter(({ has_requests }) => has_requests).map(({ id }) => id),
    )
    const planned: PlannedDue[] = []
    let mostRuns = RUNS_AT_ONCE - locked.runsInHerds
    for (const schedule of due) {
      if (mostRuns <= 0) break
      try {
        const about = { requests: requests.get(schedule.id), provided: scopes.get(schedule.job), mostRuns }
        const plan = planDue(schedule, now, about)
        mostRuns -= plan.runs.length + plan.skips.length
        planned.push({ schedule, plan, wakeAt: wakeAt(plan.nextAt, now) })
      } catch (error) {
        logger.error({ schedule: schedule.name, err: error }, 'a schedule could not be planned')
        unplannable.push({ id: schedule.id, error: String((error as Error).message) })
      }
    }
    const replaced = await replaceRuns(session, store.channel, planned)
    // What comes in herds has no inputs with which it might begin here.
    if (limits.inHerds) worker.expectLots()
    const record = async (): Promise<Pick<Recorded, 'created' | 'leased'>> => {
      // Rows that got newer zone data lie elsewhere now.
      if (recordLocked && due === locked.due) {
        const offered = limits.inHerds ? null : offerPlaces(planned)
        return recordLocked(session, planned, { channel, offered })
      }
      worker.expectLots()
      return { created: await recordPlans(session, planned, channel), leased: [] }
    }
    if (herds.length > 0) await recordHerds(session, herds, channel)
    const { created, leased } = planned.length > 0 ? await record() : { created: [], leased: [] }
    const wished = planned.filter(({ schedule }) => schedule.has_requests).map(({ schedule }) => schedule.id)
    if (wished.length > 0) await forgetRequests(session, wished)
    if (unplannable.length > 0) await setAside(session, unplannable, RETRY_PLANNING_MS)
    const done = planned.filter(({ plan }) => plan.isDone).map(({ schedule }) => schedule)
    const ended = await finish(session, done)
    return {
      due: locked.count,
      lookMs,
      newest: locked.newest,
      isCut: mostRuns <= 0,
      acts,
      runs: locked.runsInHerds + created.length,
      created: () => [...herds.flatMap(createdInHerd), ...createdOf(planned, created)],
      leased,
      ended,
      replaced,
    }
  })
}

interface Locked {
  /** How many were due and ours, and since when the last. */
  count: number
  newest: Instant | null
  /** Null where none was. */
  now: Instant | null
  lookMs: number
  /** Planned already. */
  herds: readonly PlannedHerd[]
  runsInHerds: number
  /** All others. */
  due: readonly DueSchedule[]
}

async function lockByRows(session: Session, limits: DueLimits): Promise<Locked> {
  const startedMs = monotonicMs()
  const { due, now } = await lockDueSchedules(session, limits)
  const lookMs = monotonicMs() - startedMs
  const newest = newestOf(due.map(({ wake_at }) => wake_at))
  return { count: due.length, newest, now, lookMs, herds: [], runsInHerds: 0, due }
}

async function lockInHerds(session: Session, limits: DueLimits, zoneData: string): Promise<Locked> {
  const startedMs = monotonicMs()
  const { herds, newest, now } = await lockDueHerds(session, limits)
  const lookMs = monotonicMs() - startedMs
  const plans = herds.map((herd) => planHerd(herd, now!, zoneData))
  const others = herds.filter((_, index) => plans[index] === null).flatMap(({ ids }) => ids)
  const planned = plans.filter((plan) => plan !== null)
  return {
    count: herds.reduce((sum, { ids }) => sum + ids.length, 0),
    newest,
    now,
    lookMs,
    herds: planned,
    runsInHerds: planned.reduce((sum, { runIds }) => sum + runIds.length, 0),
    due: await readLocked(session, others),
  }
}

/** Where the worker has not enough of them, it is told: runs that are planned together may be claimed together. */
export function placesFor(planned: readonly PlannedDue[], worker: WorkerHere): Offer | null {
  const runs = planned.reduce((sum, { plan }) => sum + plan.runs.length, 0)
  // Inputs are read of those that may begin here.
  const mayBegin = planned.some(({ schedule, plan }) => schedule.input !== null && plan.runs.length > 0)
  const offer = mayBegin ? worker.offer(runs) : null
  if (runs > Math.max(1, offer?.places ?? 0)) worker.expectLots()
  return offer
}

/** Those of the planned runs that are new. */
export function createdOf(planned: readonly PlannedDue[], created: readonly string[]): CreatedRun[] {
  const ids = new Set(created)
  return planned.flatMap(({ schedule, plan }) =>
    plan.runs.filter(({ id }) => ids.has(id)).map((run) => ({ run, schedule })),
  )
}

/**
 * Rows whose cursors older zone data have computed get what ours lead to first, and those that moved are taken by the
 * next tick. There are none but after an upgrade.
 */
async function withOurZoneData(
  context: Pick<ChangeContext, 'session' | 'channel' | 'now' | 'zoneData' | 'chance'>,
  due: readonly DueSchedule[],
): Promise<{ due: readonly DueSchedule[]; unplannable: ZoneDataReport['unmovable']; acts: ScheduleAct[] }> {
  const acts: ScheduleAct[] = []
  const older = due.filter(({ zone_data, next_at }) =>
    isOlder({ state: 'active', zone_data, next_at }, context.zoneData),
  )
  if (older.length === 0) return { due, unplannable: [], acts }
  const rows = await findSchedules(
    context.session,
    older.map(({ id }) => id),
  )
  const scopes = new Map<string, readonly string[]>()
  const { kept, unmovable } = await applyZoneDataTo(
    {
      ...context,
      action: 'zone_data',
      actor: null,
      scopes,
      acts,
      created: [],
      replaced: [],
      ended: new Map(),
    },
    rows,
  )
  const isReady = new Set([...due.filter((row) => !older.includes(row)).map(({ id }) => id), ...kept])
  return { due: due.filter(({ id }) => isReady.has(id)), unplannable: unmovable, acts }
}

async function finish(session: Session, done: readonly DueSchedule[]): Promise<EndedSchedule[]> {
  if (done.length === 0) return []
  return finishSchedules(
    session,
    done.map(({ id, policies }) => ({ id, deleteWhenDone: policies.deleteWhenDone })),
  )
}

/** What a tick at `now` makes of a schedule. */
export function planDue(
  schedule: DueSchedule,
  now: Instant,
  {
    requests,
    provided,
    mostRuns,
  }: { requests: ReadonlySet<Instant> | undefined; provided: ScopesAt | undefined; mostRuns: number },
) {
  if (schedule.scopes === null && provided === undefined) {
    throw new Error(`the scopes of job "${schedule.job}" were not provided in time`)
  }
  const plannable = toPlannable(schedule, provided?.scopes)
  const nextAt = possibleCursor(plannable, schedule.decided_through.getTime())
  // Plan times that were not due yet when the provider was asked are left for its next answer.
  const through = schedule.scopes === null ? Math.min(now, provided!.askedAt) : now
  return planOccurrences({ ...plannable, nextAt }, through, requests, { mostRuns })
}

/** A schedule with backlog goes to the back of the queue, so that others come in between. */
function wakeAt(nextAt: Instant | null, now: Instant): Instant | null {
  return nextAt === null ? null : Math.max(nextAt, now)
}
