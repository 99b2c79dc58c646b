import { isDeepStrictEqual } from 'node:util'
import { createBreather } from '../breather.js'
import { actOf } from '../events/schedule-events.js'
import type { AnyJob } from '../runs/job.js'
import { boundsOf, costOfBounds, countAhead } from '../schedules/bounds.js'
import { firstPlanTime } from '../schedules/plan.js'
import {
  DEFAULT_SCOPE,
  parseSchedule,
  type ScheduleContent,
  type ScheduleDefinition,
  startingAtCreation,
} from '../schedules/schedule.js'
import { newScheduleId } from '../schedules/schedule-id.js'
import {
  insertSchedules,
  listCreations,
  listPaused,
  readNow,
  type Written,
} from '../store/queries/schedules.js'
import { contentOf, type ScheduleRow } from '../store/rows.js'
import { durationToMs } from '../time/duration.js'
import { compileTiming } from '../time/timing.js'
import { zoneDataOf } from '../time/zone-data.js'
import { type Change, changeSchedules, deleteDone } from './change.js'
import type { ChangeContext } from './change-context.js'
import { type ChangedTo, planTimeFields } from './changed-row.js'
import { type Enabled, expectOpenGates } from './gating.js'
import { checkInputOf, codeOf, requireJobs } from './known-jobs.js'
import {
  expectVersion,
  nameTaken,
  neverDue,
  scheduleExists,
  unlockable,
  versionGone,
} from './schedule-errors.js'
import { type VerbParts, withLocked } from './verb.js'

/** A definition that was checked, with its name. */
export interface Declared {
  name: string
  content: ScheduleContent
  paused: boolean
}

export interface PutRequest {
  declared: readonly Declared[]
  action: string
  actor: string | undefined
  /** Whose sync it is. Kept with what it creates, and only with that: see `SyncOptions.prune`. */
  source?: string
  /** Take it all back in the end, and say what it would have changed. */
  dryRun?: boolean
  /** 0 for one that must not exist yet. */
  expectedVersion?: number | undefined
  /** How often another process was just creating the same: it cannot be so for ever. */
  races?: number
}

export interface PutReport {
  /** The names that were created or changed. */
  changed: string[]
  /** Those of them that are done and deleted, as they were last, by name. */
  ended: Map<string, ScheduleRow>
}

/** Creates or replaces; same content is no change. */
export async function putSchedules(parts: VerbParts, request: PutRequest): Promise<PutReport> {
  if (request.races === undefined) await expectOpenGates(parts, await toBeEnabled(parts, request.declared))
  const byName = new Map(request.declared.map((declared) => [declared.name, declared]))
  await countLimits(parts, request.declared)
  const { changed, ended, raced } = await withLocked(
    parts,
    [...byName.keys()],
    request,
    async (context, rows) => {
      const mustBeNew = request.expectedVersion === 0
      if (mustBeNew && rows.length > 0) throw scheduleExists(rows[0]!.name)
      for (const row of rows) expectVersion(row, request.expectedVersion)
      const existing = new Set(rows.map(({ name }) => name))
      const missing = request.declared.filter(({ name }) => !existing.has(name))
      if (request.expectedVersion !== undefined && !mustBeNew && missing.length > 0)
        throw versionGone(missing[0]!.name)
      const created = await create(context, missing, request.source)
      await refuseForeign(
        context,
        parts.group,
        missing.flatMap(({ name }) => (created.has(name) ? [] : name)),
      )
      const change: Change = (row) => {
        const { content } = byName.get(row.name)!
        return replaced(row, startingAtCreation(content, row.created_at.getTime()))
      }
      const replacedIds = new Set(await changeSchedules(context, rows, change))
      const outcome = {
        changed: [...created, ...rows.filter(({ id }) => replacedIds.has(id)).map(({ name }) => name)],
        ended: context.ended,
        raced: missing.filter(({ name }) => !created.has(name)),
      }
      if (request.dryRun) throw new TakenBack(outcome)
      return outcome
    },
  ).catch((error) => {
    if (error instanceof TakenBack) return error.outcome
    throw error
  })
  // Another process created these between our look and our insert, which waited for it: now there are rows to lock.
  if (raced.length > 0) {
    if (request.expectedVersion === 0) throw scheduleExists(raced[0]!.name)
    const races = (request.races ?? 0) + 1
    if (races > MAX_RACES) throw unlockable(raced.map(({ name }) => name))
    const rest = await putSchedules(parts, { ...request, declared: raced, races })
    changed.push(...rest.changed)
    for (const [name, row] of rest.ended) ended.set(name, row)
  }
  return { changed, ended }
}

/** Rolls back what a dry run has done. */
class TakenBack extends Error {
  readonly outcome: PutReport & { raced: Declared[] }

  constructor(outcome: PutReport & { raced: Declared[] }) {
    super('a dry run is taken back')
    this.outcome = outcome
  }
}

/** Names that are in use, though not in this group: no later look would find rows of ours to lock. */
async function refuseForeign(
  { session }: ChangeContext,
  group: string | undefined,
  names: readonly string[],
): Promise<void> {
  if (group === undefined || names.length === 0) return
  const own = await listCreations(session, names, group)
  const foreign = names.find((name) => !own.has(name))
  if (foreign !== undefined) throw nameTaken(foreign)
}

/** What a gate may have a say in. A put never resumes what is paused. */
async function toBeEnabled(
  { store, jobs, group }: VerbParts,
  declared: readonly Declared[],
): Promise<Enabled[]> {
  const mayBeGated = (name: string) => jobs.get(name) === undefined || jobs.get(name)!.gate !== undefined
  const wanted = declared.filter(({ paused, content }) => !paused && mayBeGated(content.job))
  if (wanted.length === 0) return []
  const paused = new Set(
    await listPaused(
      store,
      wanted.map(({ name }) => name),
      group,
    ),
  )
  return wanted
    .filter(({ name }) => !paused.has(name))
    .map(({ name, content }) => ({ name, job: content.job, input: content.input }))
}

const MAX_RACES = 5

/** Where limits end is counted out before anything is locked. */
async function countLimits({ store, group }: VerbParts, declared: readonly Declared[]): Promise<void> {
  const limited = declared.filter(({ content }) => costOfBounds(content) > 1)
  if (limited.length === 0) return
  const creations = await listCreations(
    store,
    limited.map(({ name }) => name),
    group,
  )
  const rest = createBreather()
  for (const { name, content } of limited) {
    const createdAt = creations.get(name) ?? (await readNow(store))
    await countAhead(startingAtCreation(content, createdAt), createdAt, rest)
  }
}

async function create(
  context: ChangeContext,
  declared: readonly Declared[],
  source: string | undefined,
): Promise<Set<string>> {
  if (declared.length === 0) return new Set()
  const written = declared.map((one) => createdOf(context, one, source ?? null))
  const created = await insertSchedules(context.session, written, context.now)
  const own = written.filter(({ name }) => created.has(name))
  const deleted = await deleteDone(context, own)
  for (const one of own) {
    const outcome = { isFinished: one.state === 'finished', isDeleted: deleted.has(one.id) }
    context.acts.push(actOf(context.action, one, outcome))
  }
  return created
}

function createdOf(
  { now, action, actor, zoneData, chance }: ChangeContext,
  declared: Declared,
  source: string | null,
): Written {
  const { name, content, paused } = declared
  const { startAt, untilAt } = boundsOf(content, now)
  const timing = compileTiming(content.timing)
  const first = firstPlanTime({ timing, until: untilAt }, { startAt, now })
  if (first === null && untilAt === null) throw neverDue(name)
  const state = paused ? 'paused' : first === null ? 'finished' : 'active'
  const nextAt = state === 'active' ? first : null
  return {
    id: newScheduleId(now, chance),
    name,
    version: 1,
    content,
    source,
    state,
    stateReason: null,
    stateBy: paused ? actor : null,
    stateSince: now,
    stateUntil: null,
    untilAt,
    startAt,
    nextAt,
    wakeAt: nextAt,
    // The ledger of a new schedule begins just before its first plan time can be, also where that waits for a resume.
    decidedThrough: Math.min(now, first ?? now) - 1,
    afterMs: content.timing.kind === 'after' ? durationToMs(content.timing.interval) : null,
    counted: null,
    failures: null,
    zoneData: zoneDataOf(content.timing, zoneData),
    change: { action, actor, before: null, after: content },
  }
}

/** A put clears a breaker and never resumes a pause; a finished schedule wakes up if its plan times are others. */
function replaced(row: ScheduleRow, content: ScheduleContent): ChangedTo | null {
  const before = contentOf(row)
  const isSame = isDeepStrictEqual(before, content)
  if (isSame && row.state !== 'broken') return null
  const wakes =
    row.state === 'finished' && !isDeepStrictEqual(planTimeFields(before), planTimeFields(content))
  return {
    content,
    ...((wakes || row.state === 'broken') && { state: { is: 'active' } }),
  }
}

/** An `after` timing takes one scope, and no provider. */
function isAfter({ timing }: ScheduleContent): boolean {
  return timing.kind === 'after'
}

/** Checks definitions against their jobs, and against the group that the caller is limited to. */
export async function declare(
  { store, jobs, group }: VerbParts,
  definitions: readonly { name: string; definition: ScheduleDefinition }[],
): Promise<Declared[]> {
  const parsed = definitions.map(({ name, definition }) => ({
    name,
    content: parseSchedule(name, definition, group),
    paused: definition.paused ?? false,
  }))
  const asked = definitions.map(({ definition }) => definition.job)
  const published = await requireJobs(store, jobs, asked, { isLimited: group !== undefined })
  for (const [index, { content }] of parsed.entries()) {
    const job = codeOf(jobs, asked[index]!) ?? published.find(({ name }) => name === content.job)
    await checkInputOf(job, content.input)
  }
  const hasProvider = (job: AnyJob | string, name: string) =>
    codeOf(jobs, job)?.scopes !== undefined || published.some((one) => one.name === name && one.provider)
  return parsed.map(({ name, content, paused }, index) => ({
    name,
    content: {
      ...content,
      scopes:
        content.scopes ??
        (hasProvider(asked[index]!, content.job) && !isAfter(content) ? null : [DEFAULT_SCOPE]),
    },
    paused,
  }))
}
