import { isOlder } from '../client/zone-data.js'
import { monotonicMs } from '../clock.js'
import { onTimeUntil, RUNS_AT_ONCE } from '../schedules/plan.js'
import { newestOf } from '../store/front.js'
import { type DueSchedule, readComing } from '../store/queries/planning.js'
import { type PlannedAhead, type Recorded, recordAhead } from '../store/queries/recording.js'
import { isContended, isRefusal, isRefusedByServer } from '../store/refusal.js'
import type { Instant } from '../time/instant.js'
import { TIMING_KINDS } from '../time/timing.js'
import { type CreatedRun, createdOf, placesFor, planDue, type TickParts } from './tick.js'

/**
 * Plans that are made before they are due.
 *
 * Most schedules are on time, and then there is one plan time to run and nothing else to decide. So they are read and planned shortly before, and
 * when their time has come one statement records them: nothing is locked, read or planned while handlers are waited for. It holds each plan
 * against the schedule as it then is, and writes only what a tick would write (`recordAhead`). Whatever it leaves is due, and the next tick
 * takes it: plans may be late, or lost with their process, and nothing follows from it.
 */
export interface Ahead {
  /** Reads and plans what comes due within so many milliseconds, of so many schedules at most. */
  look(withinMs: number, limit: number): Promise<void>
  /** Whether anything is planned. */
  hasPlans(): boolean
  /** Records what was planned and is due, and forgets all of it. `tell` hears of each batch. */
  fire(tell: (batch: AheadBatch) => void): Promise<void>
}

interface AheadBatch {
  /** How many were decided, and up to where all of them were; null where some were left. */
  schedules: number
  newest: Instant | null
  created: CreatedRun[]
  durationMs: number
}

interface AheadRecorded extends Pick<Recorded, 'created' | 'moved'> {
  durationMs: number
  begin(): void
}

/** While the answer of one is read and its handlers begin, the database records the other. */
const PARTS_AT_ONCE = 2

/** The first is small, and none is so large that its handlers would wait long for the last of it. */
function partsOf<T>(list: readonly T[], first: number): T[][] {
  const parts: T[][] = []
  for (let from = 0, size = first; from < list.length; from += size, size = 2 * first)
    parts.push(list.slice(from, from + size))
  return parts
}

export function createAhead(
  { store, calls, worker, zoneData }: TickParts,
  { firstBatch }: { firstBatch: number },
): Ahead {
  let plans: readonly PlannedAhead[] = []

  /** Null for whatever has more to it than its runs: a tick sees to that. */
  function planFor(schedule: DueSchedule, mostRuns: number): PlannedAhead | null {
    const { policies, next_at } = schedule
    const planTime = next_at!.getTime()
    if (policies.overlap === 'replace' || isOlder({ ...schedule, state: 'active' }, zoneData)) return null
    const plan = planDue(schedule, planTime, { requests: undefined, provided: undefined, mostRuns })
    const { runs, skips, nextAt } = plan
    if (runs.length === 0 || runs.length > mostRuns || skips.length > 0 || nextAt === null) return null
    return {
      schedule,
      plan,
      wakeAt: nextAt,
      goodUntil: Math.min(onTimeUntil(policies, planTime), nextAt),
    }
  }

  /** Of those that cannot be planned the tick tells, and sets them aside. */
  function tryPlanFor(schedule: DueSchedule, mostRuns: number): PlannedAhead | null {
    try {
      return planFor(schedule, mostRuns)
    } catch {
      return null
    }
  }

  async function record(part: readonly PlannedAhead[]): Promise<AheadRecorded> {
    const startedMs = monotonicMs()
    const durationMs = () => monotonicMs() - startedMs
    const offer = placesFor(part, worker)
    try {
      const recorded = await calls.around(
        (channel) => recordAhead(store, part, { channel, offered: offer }),
        ({ created, leased }) => created.length > leased.length,
      )
      return { ...recorded, durationMs: durationMs(), begin: () => offer?.begin(recorded.leased) }
    } catch (error) {
      offer?.giveUp({ mayBeRecorded: !isRefusedByServer(error) })
      // A run that is there already, what cannot be stored, or somebody in the way: the tick finds out which.
      if (!isRefusal(error) && !isContended(error)) throw error
      return { created: [], moved: 0, durationMs: durationMs(), begin() {} }
    }
  }

  return {
    hasPlans: () => plans.length > 0,
    async look(withinMs, limit) {
      const coming = await readComing(store, {
        kinds: TIMING_KINDS,
        limit,
        withinMs,
        beginning: worker.beginning(),
      })
      let mostRuns = RUNS_AT_ONCE
      plans = coming.flatMap((schedule) => {
        const planned = tryPlanFor(schedule, mostRuns)
        mostRuns -= planned?.plan.runs.length ?? 0
        return planned ?? []
      })
    },
    async fire(tell) {
      const parts = partsOf(plans, firstBatch)
      plans = []
      const lane = async () => {
        for (let part = parts.shift(); part; part = parts.shift()) {
          const { created, moved, durationMs, begin } = await record(part)
          const newest = moved === part.length ? newestOf(part.map(({ schedule }) => schedule.wake_at)) : null
          tell({ schedules: moved, newest, created: createdOf(part, created), durationMs })
          begin()
        }
      }
      const ends = await Promise.allSettled(Array.from({ length: PARTS_AT_ONCE }, lane))
      for (const end of ends) if (end.status === 'rejected') throw end.reason
    },
  }
}
