import { defaultWindow, POLICY_DEFAULTS } from '../../../../src/schedules/policies.js'
import type { Schedule } from '../../api/client.ts'
import { newTimingForm, type TimingForm, timingFormOf } from './timing-form.ts'

/**
 * What is typed, by the fields of a definition. A text that is empty stands for the default, so that the default is shown where it
 * would be typed, and is not sent.
 */
export interface FormState {
  name: string
  description: string
  group: string
  job: string
  /** JSON. */
  input: string
  queue: string
  priority: string
  /** One in a line. */
  scopes: string
  /** JSON. */
  metadata: string
  timing: TimingForm
  startAt: string
  endAt: string
  limit: string
  catchUp: Schedule['catchUp']
  catchUpWindow: string
  catchUpLimit: string
  grace: string
  overlap: Schedule['overlap']
  delay: string
  jitter: string
  breaker: { isOn: boolean; failures: string; cooldown: string }
  deleteWhenDone: boolean
  /** Of a new one. */
  paused: boolean
}

export function newForm(zone: string): FormState {
  return {
    name: '',
    description: '',
    group: '',
    job: '',
    input: '',
    queue: '',
    priority: '',
    scopes: '',
    metadata: '',
    timing: newTimingForm(zone),
    startAt: '',
    endAt: '',
    limit: '',
    catchUp: POLICY_DEFAULTS.catchUp,
    catchUpWindow: '',
    catchUpLimit: '',
    grace: '',
    overlap: POLICY_DEFAULTS.overlap,
    delay: '',
    jitter: '',
    breaker: { isOn: false, failures: '5', cooldown: '' },
    deleteWhenDone: false,
    paused: false,
  }
}

/** What there is, as if it had been typed. */
export function formOf(schedule: Schedule): FormState {
  const { timing, breaker, catchUp, startAt, endAt } = schedule
  const unless = (preset: string | number, value: string | number) => (value === preset ? '' : String(value))
  const window = schedule.catchUpWindow ?? ''
  const blank = newForm('UTC')
  return {
    name: schedule.name,
    description: schedule.description ?? '',
    group: schedule.group ?? '',
    job: schedule.job,
    input: jsonText(schedule.input),
    queue: unless('default', schedule.queue),
    priority: unless(0, schedule.priority),
    scopes: (schedule.scopes ?? []).join('\n'),
    metadata: jsonText(schedule.metadata),
    timing: timingFormOf(timing),
    // A start that nobody gave is the time of creation.
    startAt: unless(schedule.createdAt, startAt),
    endAt: endAt ?? '',
    limit: schedule.limit === null ? '' : String(schedule.limit),
    catchUp,
    catchUpWindow: window === (defaultWindow(catchUp, timing.kind) ?? '') ? '' : window,
    catchUpLimit: unless(POLICY_DEFAULTS.catchUpLimit, schedule.catchUpLimit),
    grace: unless(POLICY_DEFAULTS.grace, schedule.grace),
    overlap: timing.kind === 'after' ? blank.overlap : schedule.overlap,
    delay: unless(POLICY_DEFAULTS.delay, schedule.delay),
    jitter: unless(POLICY_DEFAULTS.jitter, schedule.jitter),
    breaker:
      breaker === null
        ? blank.breaker
        : { isOn: true, failures: String(breaker.failures), cooldown: breaker.cooldown ?? '' },
    deleteWhenDone: schedule.deleteWhenDone,
    paused: false,
  }
}

function jsonText(value: unknown): string {
  return value === null ? '' : JSON.stringify(value, null, 2)
}
