import { isDeepStrictEqual } from 'node:util'
import { EscapementError } from '../errors.js'
import type { EventBus } from '../events/bus.js'
import { checkInput } from '../runs/job.js'
import { type JobRegistry, unknownJob } from '../runs/job-registry.js'
import { firstPlanTime, nextPlanTime, planOccurrences } from '../schedules/plan.js'
import {
  parseSchedule,
  type Schedule,
  type ScheduleContent,
  type ScheduleDefinition,
} from '../schedules/schedule.js'
import { newScheduleId } from '../schedules/schedule-id.js'
import { recordPlans } from '../store/queries/planning.js'
import {
  findSchedule,
  insertChange,
  insertSchedule,
  listSchedules,
  lockSchedule,
  notify,
  updateSchedule,
} from '../store/queries/schedules.js'
import { listJobNames } from '../store/queries/workers.js'
import { type ScheduleRow, toPlannable, toSchedule } from '../store/rows.js'
import type { Session, Store } from '../store/store.js'
import { didYouMean } from '../time/did-you-mean.js'
import type { Instant } from '../time/instant.js'
import { compileTiming } from '../time/timing.js'

export interface PutOptions {
  /** Who asks, for the change log. */
  actor?: string
}

export interface ListOptions {
  /** Continue after this name. */
  after?: string
  /** @default 100 */
  limit?: number
}

export const LIST_DEFAULTS = { limit: 100 } satisfies ListOptions

export interface Schedules {
  /**
   * Creates the schedule or replaces what it holds; putting the same content again changes nothing. Plan times that
   * are due by now are still decided by the old content.
   */
  put<Input>(name: string, definition: ScheduleDefinition<Input>, options?: PutOptions): Promise<Schedule>
  get(name: string): Promise<Schedule>
  /** In the order of their names. */
  list(options?: ListOptions): Promise<Schedule[]>
}

export function createSchedules(parts: { store: Store; jobs: JobRegistry; bus: EventBus }): Schedules {
  const { store, jobs, bus } = parts

  async function checkJob(content: ScheduleContent): Promise<void> {
    const job = jobs.get(content.job)
    if (job) {
      await checkInput(job, content.input)
      return
    }
    const published = await listJobNames(store)
    if (published.includes(content.job)) return
    throw unknownJob(content.job, [...new Set([...jobs.all().map(({ name }) => name), ...published])])
  }

  return {
    async put(name, definition, { actor } = {}) {
      const content = parseSchedule(name, definition as ScheduleDefinition)
      await checkJob(content)
      const { row, changed } = await store.transaction(async (session) => {
        const result = await putSchedule(session, store.channel, { name, content, actor: actor ?? null })
        if (result.changed) await notify(session, store.channel, 'schedules')
        return result
      })
      if (changed) {
        bus.emit('schedule.changed', { scheduleId: row.id, schedule: row.name, version: row.version })
      }
      return toSchedule(row)
    },

    async get(name) {
      const row = await findSchedule(store, name)
      if (row) return toSchedule(row)
      const near = didYouMean(
        name,
        (await listSchedules(store, { after: '', limit: 1000 })).map((s) => s.name),
      )
      throw new EscapementError('schedule_not_found', {
        message: `There is no schedule "${name}"${near}. List them with: escapement schedules list`,
        details: { name },
      })
    },

    async list({ after = '', limit = LIST_DEFAULTS.limit } = {}) {
      return (await listSchedules(store, { after, limit })).map(toSchedule)
    },
  }
}

interface Put {
  name: string
  content: ScheduleContent
  actor: string | null
}

async function putSchedule(
  session: Session,
  channel: string,
  put: Put,
): Promise<{ row: ScheduleRow; changed: boolean }> {
  const { row, now } = await lockSchedule(session, put.name)
  if (row) return replace(session, channel, put, row, now)
  const created = await create(session, put, now)
  if (created) return { row: created, changed: true }
  // Another process created it between our look and our insert, which waited for that: now there is a row to lock.
  return putSchedule(session, channel, put)
}

async function create(session: Session, { name, content, actor }: Put, now: Instant) {
  const timing = compileTiming(content.timing)
  const nextAt = firstPlanTime(timing, { startAt: ms(content.startAt), endAt: ms(content.endAt), now })
  // The ledger of a new schedule begins just before its first plan time can be.
  const decidedThrough = Math.min(now, nextAt ?? now) - 1
  const schedule = { id: newScheduleId(now), name, content }
  const row = await insertSchedule(session, schedule, { nextAt, decidedThrough, now })
  if (!row) return undefined
  await insertChange(session, {
    scheduleId: row.id,
    version: row.version,
    action: 'put',
    actor,
    before: null,
    after: content,
    boundary: decidedThrough,
    now,
  })
  return row
}

async function replace(
  session: Session,
  channel: string,
  { content, actor }: Put,
  row: ScheduleRow,
  now: Instant,
) {
  const before = contentOf(row)
  if (isDeepStrictEqual(before, JSON.parse(JSON.stringify(content)))) return { row, changed: false }
  await settle(session, channel, row, now)
  const boundary = Math.max(now, row.decided_through.getTime())
  const after = Math.max(boundary, (ms(content.startAt) ?? row.created_at.getTime()) - 1)
  const nextAt = nextPlanTime(compileTiming(content.timing), after, ms(content.endAt))
  const updated = await updateSchedule(session, row.id, content, { nextAt, decidedThrough: boundary, now })
  await insertChange(session, {
    scheduleId: row.id,
    version: updated.version,
    action: 'put',
    actor,
    before,
    after: content,
    boundary,
    now,
  })
  return { row: updated, changed: true }
}

/** Decides what is due by now under the content that is about to be replaced, as a tick would have. */
async function settle(session: Session, channel: string, row: ScheduleRow, now: Instant): Promise<void> {
  if (row.state !== 'active' || row.next_at === null) return
  const schedule = { ...row, next_at: row.next_at }
  if (schedule.next_at.getTime() > now) return
  await recordPlans(session, [{ schedule, plan: planOccurrences(toPlannable(schedule), now) }], channel)
}

function contentOf(row: ScheduleRow): ScheduleContent {
  const startsAtCreation = row.start_at.getTime() === row.created_at.getTime()
  return {
    job: row.job,
    input: row.input,
    queue: row.queue,
    priority: row.priority,
    group: row.group,
    scopes: row.scopes,
    description: row.description,
    metadata: row.metadata,
    startAt: startsAtCreation ? null : row.start_at.toISOString(),
    endAt: row.end_at?.toISOString() ?? null,
    timing: row.timing,
  }
}

function ms(iso: string | null): Instant | null {
  return iso === null ? null : Date.parse(iso)
}
