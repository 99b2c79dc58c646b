import type { Result } from '../../../http-client/index.js'
import type { Instant, Timing } from '../../../time/index.js'
import { colours } from '../../colours.js'
import { moment } from '../../moment.js'

export type Schedule = Result<'getSchedule'>
type State = Schedule['state']

const PAINT: Readonly<Record<State, (text: string) => string>> = {
  active: colours.green,
  paused: colours.yellow,
  broken: colours.red,
  finished: colours.dim,
}

export function paintedState(state: State): string {
  return PAINT[state](state)
}

/** The zone on whose wall a timing lives; undefined where it only counts elapsed time. */
export function zoneOf(timing: Schedule['timing'] | Timing): string | undefined {
  if (timing.kind === 'after') return undefined
  if (timing.kind === 'every' && /second|minute|hour/.test(timing.every)) return undefined
  return timing.zone
}

/** The zone in which a time without an offset is read. */
export function readingZone(timing: Schedule['timing'] | Timing): string {
  return timing.kind === 'after' ? 'UTC' : timing.zone
}

/** `report:acme is active; next 2026-12-01 09:00 (in 15 days)`: what is so now, for after a verb. */
export function standingOf(schedule: Schedule, now?: Instant): string {
  return `${colours.bold(schedule.name)} is ${paintedState(schedule.state)}${detailOf(schedule, now)}`
}

function detailOf(schedule: Schedule, now: Instant | undefined): string {
  const { state, nextAt, timing } = schedule
  switch (state) {
    case 'active':
      if (nextAt !== null) return `; next ${moment(nextAt, { zone: zoneOf(timing), ...(now && { now }) })}`
      return timing.kind === 'after' ? '; the next follows the end of its run' : ''
    case 'finished':
      return ': no plan time is left'
    default:
      return noteOf(schedule, now)
  }
}

/** ` since 2026-11-15 09:00 (2 hours ago) by ann: its reason`, or until when if that is known; empty of an active one. */
export function noteOf({ stateNote, timing }: Schedule, now?: Instant): string {
  if (stateNote === null) return ''
  const { reason, by, since, until } = stateNote
  const when =
    until === null
      ? ` since ${moment(since, { ...(now && { now }) })}`
      : ` until ${moment(until, { zone: zoneOf(timing), ...(now && { now }) })}`
  return `${when}${by === null ? '' : ` by ${by}`}${reason === null ? '' : `: ${reason}`}`
}

/** The line after a verb. */
export function done(sentence: string): string {
  return `${colours.green('✔')} ${sentence}`
}
