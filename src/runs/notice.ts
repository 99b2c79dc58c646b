/**
 * Notices: runs that tell somebody of what went wrong. They are inserted by the transaction in which it does, so that there is the
 * one if there is the other. The key of a notice has its minute in it, and its id is derived from the key: whoever else
 * has something to tell of the same schedule in the same minute arrives at the same id, and the primary key refuses it.
 */
import type { Instant } from '../time/instant.js'
import type { DirectBatch } from './direct-batches.js'
import { OWN_KEYS } from './direct-run.js'
import type { NoticeEventName, NoticeRule } from './notification.js'
import { directRunIdOf } from './run-id.js'

/** What happened, as a notice's input has it in `event`. Times are ISO text; what does not apply is null. */
export interface NoticeEvent {
  name: NoticeEventName
  at: string
  /** Null for a direct run, as are its name and group. */
  scheduleId: string | null
  schedule: string | null
  group: string | null
  job: string
  /** Why the schedule is broken. */
  reason: string | null
  /** When a broken schedule is tried again by itself. */
  until: string | null
  /** The run that failed. Of a broken schedule the last one, unless it was taken out for the errors in a run's totals. */
  runId: string | null
  attempt: number | null
  scope: string | null
  planTime: string | null
  error: { code: string; message: string } | null
}

/** What one rule tells of one schedule, or of the direct runs of one job. */
export interface Notice {
  rule: NoticeRule
  event: NoticeEvent
}

const KEYS = `${OWN_KEYS}notice:`

/** Whether a run of this key is a notice: of its failure nobody is told, however often it is tried again. */
export function isNotice(key: string | null): boolean {
  return key?.startsWith(KEYS) ?? false
}

/** One for each rule and schedule: that it is broken says more than that a run of it has failed. */
export function noticesOf(rules: readonly NoticeRule[], events: readonly NoticeEvent[]): Notice[] {
  const failures = events.filter(({ name }) => name === 'run.failed')
  const broken = events.filter(({ name }) => name === 'schedule.broken')
  const inOrder = [...broken.map((event) => withLastFailure(event, failures)), ...failures]
  return rules.flatMap((rule) => {
    const told = new Map<string, Notice>()
    for (const event of inOrder) {
      if (!rule.on.includes(event.name) || (rule.group !== null && rule.group !== event.group)) continue
      const subject = subjectOf(event)
      if (!told.has(subject)) told.set(subject, { rule, event })
    }
    return [...told.values()]
  })
}

function withLastFailure(broken: NoticeEvent, failures: readonly NoticeEvent[]): NoticeEvent {
  const [last] = failures
    .filter(({ scheduleId }) => scheduleId === broken.scheduleId)
    .sort((a, b) => ((a.planTime ?? '') < (b.planTime ?? '') ? 1 : -1))
  if (!last) return broken
  const { runId, attempt, scope, planTime, error } = last
  return { ...broken, runId, attempt, scope, planTime, error }
}

function subjectOf({ scheduleId, job }: NoticeEvent): string {
  return scheduleId ?? `job:${job}`
}

const MINUTE_MS = 60_000

export function minuteOf(now: Instant): Instant {
  return Math.floor(now / MINUTE_MS) * MINUTE_MS
}

export function minuteAfter(minute: Instant): Instant {
  return minute + MINUTE_MS
}

/** The runs of notices in a minute; `at` is when they become eligible, null for at once. */
export function noticeRuns(notices: readonly Notice[], minute: Instant, at: Instant | null): DirectBatch {
  const runs = notices.map(({ rule, event }) => ({
    job: rule.job,
    input: JSON.stringify({ ...rule.input, event }),
    queue: rule.queue,
    priority: rule.priority,
    key: `${KEYS}${rule.id}:${subjectOf(event)}:${new Date(minute).toISOString().slice(0, 16)}Z`,
    at,
    delayMs: 0,
    traceContext: null,
  }))
  return { ids: runs.map(({ job, key }) => directRunIdOf(job, key)), runs }
}
