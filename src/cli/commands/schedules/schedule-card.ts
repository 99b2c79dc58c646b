import type { Result } from '../../../http-client/index.js'
import { describePolicies } from '../../../schedules/describe-policies.js'
import { describe, type Instant, type Timing } from '../../../time/index.js'
import { formatCard } from '../../card.js'
import { colours } from '../../colours.js'
import { distanceTo, moment } from '../../moment.js'
import { paintedState as paintedRunState } from '../../run-words.js'
import { noteOf, paintedState, type Schedule, zoneOf } from './standing.js'

export interface CardFacts {
  schedule: Schedule
  preview: Result<'previewSchedule'>
  /** Newest first. */
  runs: Result<'listRunsOfSchedule'>['runs']
}

/** Everything about one schedule, for a person; what is as it is by default is left out. */
export function describeSchedule({ schedule, preview, runs }: CardFacts, now: Instant): string {
  const { name, timing, description, job, input, metadata, queue, priority, group, scopes } = schedule
  const { startAt, endAt, limit, createdAt } = schedule
  const at = (instant: string) => moment(instant, { zone: zoneOf(timing), now })
  return formatCard(name, [
    ['description', description],
    ['state', `${paintedState(schedule.state)}${noteOf(schedule, now)}`],
    ['timing', describe(timing as Timing)],
    ['next', nextTimes(schedule, preview, at)],
    ['begins', startAt === createdAt ? null : at(startAt)],
    ['ends', endAt && at(endAt)],
    ['limit', limit === null ? null : `${limit} plan times`],
    ['job', job],
    ['input', inJson(input)],
    ['queue', queue === 'default' && priority === 0 ? null : `${queue}, priority ${priority}`],
    ['group', group],
    ['scopes', scopes === null || String(scopes) === 'global' ? null : scopes.join(', ')],
    ['policy', describePolicies(schedule, timing.kind)],
    ['metadata', inJson(metadata)],
    ['last runs', runs.map((run) => lastRun(run, now)).join(', ') || null],
    ['version', versionOf(schedule, now)],
  ])
}

function nextTimes(
  { state, stateNote, timing }: Schedule,
  { occurrences }: CardFacts['preview'],
  at: (instant: string) => string,
): string[] {
  if (state === 'finished') return ['none is left']
  if (stateNote !== null && stateNote.until === null) return ['none until it is resumed']
  if (occurrences.length === 0)
    return [timing.kind === 'after' ? 'follows the end of its run' : 'none is left']
  return occurrences.map(({ planTime, skipped, note }) =>
    [
      at(planTime),
      ...(skipped ? [colours.yellow('to be skipped')] : []),
      ...(note === undefined || timing.kind === 'after' ? [] : [note]),
    ].join('  '),
  )
}

function versionOf({ version, updatedAt, createdAt }: Schedule, now: Instant): string {
  const created = `created ${distanceTo(createdAt, now)}`
  return version === 1 ? `1, ${created}` : `${version}, changed ${distanceTo(updatedAt, now)}, ${created}`
}

function lastRun({ state, error, finishedAt, createdAt }: CardFacts['runs'][number], now: Instant): string {
  const why = error === null ? '' : ` (${error.message.split('\n')[0]})`
  return `${paintedRunState(state)} ${distanceTo(finishedAt ?? createdAt, now)}${why}`
}

const LONGEST_LINE = 80

/** On one line where that is short; null for nothing. */
function inJson(value: unknown): string | null {
  if (value === null) return null
  const line = JSON.stringify(value)
  return line.length <= LONGEST_LINE ? line : JSON.stringify(value, null, 2)
}
