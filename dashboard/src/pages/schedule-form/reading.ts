import { EscapementError, type Mistake } from '../../../../src/errors.js'
import {
  POLICY_DEFAULTS,
  type Policies,
  type PolicyFields,
  readPolicies,
} from '../../../../src/schedules/policies.js'
import { parseSchedule, type ScheduleDefinition } from '../../../../src/schedules/schedule.js'
import { formatDuration, parseDuration } from '../../../../src/time/duration.js'
import { readOrThrow } from '../../../../src/time/report.js'
import { parseTiming, type Timing } from '../../../../src/time/timing.js'
import type { FormState } from './form-state.ts'
import { jsonMistake } from './json-mistake.ts'
import { timingOf } from './timing-form.ts'

/** A definition, or a part of one, as the API takes it. */
export type Fields = Readonly<Record<string, unknown>>

export interface Reading {
  /** What is at its default is left out. */
  definition: Fields
  /** What is wrong with it, as far as a page can know: the same words as the server's. */
  mistakes: readonly Mistake[]
  /** Filled with their defaults; undefined where something is wrong with them. */
  timing: Timing | undefined
  policies: Policies | undefined
}

/** What the form says. */
export function readForm(form: FormState): Reading {
  const { fields, mistakes } = fieldsOf(form)
  const definition = { ...fields, ...(form.paused && { paused: true }) }
  const found = attempted(() => parseSchedule(form.name.trim(), definition as unknown as ScheduleDefinition))
  // Of what the fields above have said nothing about. A timing that this page cannot show, it cannot judge either.
  const isKnown = ({ field }: Mistake) =>
    mistakes.some((own) => rootOf(own.field) === rootOf(field)) ||
    (form.timing.kind === 'json' && rootOf(field) === 'timing')
  const all = [...mistakes, ...found.mistakes.filter((mistake) => !isKnown(mistake))]
  return {
    definition,
    mistakes: all,
    timing: attempted(() => parseTiming(fields.timing)).value,
    policies: attempted(() =>
      readOrThrow('schedule_invalid', (report) =>
        readPolicies(definition as PolicyFields, form.timing.kind, report),
      ),
    ).value,
  }
}

/** `timing` of `timing.zone`, `lines` of `lines[3]`. */
export function rootOf(field: string): string {
  return /^[^.[]*/.exec(field)![0]
}

function attempted<Value>(read: () => Value): { value?: Value; mistakes: readonly Mistake[] } {
  try {
    return { value: read(), mistakes: [] }
  } catch (error) {
    if (!(error instanceof EscapementError)) throw error
    return { mistakes: error.details.mistakes as Mistake[] }
  }
}

/** The fields that were given, in the order in which people read them. */
function fieldsOf(form: FormState): { fields: Fields; mistakes: Mistake[] } {
  const { timing, mistakes: wrongTiming } = timingOf(form.timing)
  const mistakes = [...wrongTiming]
  const given: (readonly [string, unknown])[] = [
    ['job', form.job.trim()],
    ...(timing === undefined ? [] : ([['timing', timing]] as const)),
  ]
  const give = (field: keyof FormState, value: unknown) => given.push([field, value])
  for (const field of ['input', 'metadata'] as const) {
    if (form[field].trim() === '') continue
    const mistake = jsonMistake(form[field])
    if (mistake === undefined) give(field, JSON.parse(form[field]))
    else mistakes.push({ field, message: mistake })
  }
  for (const field of ['group', 'description', 'queue', 'startAt', 'endAt', 'catchUpWindow'] as const) {
    if (form[field].trim() !== '') give(field, form[field].trim())
  }
  for (const field of ['priority', 'limit', 'catchUpLimit'] as const) {
    if (form[field].trim() !== '') give(field, numberIn(form[field]))
  }
  for (const field of ['grace', 'delay', 'jitter'] as const) {
    if (!isDefaultSpan(form[field], POLICY_DEFAULTS[field])) give(field, form[field].trim())
  }
  const scopes = form.scopes.split('\n').flatMap((line) => line.trim() || [])
  if (scopes.length > 0) give('scopes', scopes)
  if (form.catchUp !== POLICY_DEFAULTS.catchUp) give('catchUp', form.catchUp)
  if (form.overlap !== POLICY_DEFAULTS.overlap && form.timing.kind !== 'after') give('overlap', form.overlap)
  if (form.breaker.isOn) give('breaker', breakerOf(form.breaker))
  if (form.deleteWhenDone) give('deleteWhenDone', true)
  return { fields: Object.fromEntries(given), mistakes }
}

function breakerOf({ failures, cooldown }: FormState['breaker']): Fields {
  return { failures: numberIn(failures), ...(cooldown.trim() !== '' && { cooldown: cooldown.trim() }) }
}

/** What is no number stays as it was typed, and is refused as such. */
function numberIn(text: string): number | string {
  return /^\s*[+-]?\d{1,15}\s*$/.test(text) ? Number(text) : text.trim()
}

function isDefaultSpan(text: string, preset: string): boolean {
  if (text.trim() === '') return true
  try {
    return formatDuration(parseDuration(text)) === preset
  } catch {
    return false
  }
}

/** What an edit changes, as `patch` takes it: a field that is not given any more is taken away by null. */
export function patchOf(form: FormState, before: FormState): Fields {
  const [old, next] = [effective(before), effective(form)]
  const names = [...new Set([...Object.keys(old), ...Object.keys(next)])]
  return Object.fromEntries(
    names
      // A timing cannot be taken away: one that is not there is not right yet.
      .filter((name) => name !== 'timing' || next.timing !== undefined)
      .filter((name) => JSON.stringify(old[name]) !== JSON.stringify(next[name]))
      .map((name) => [name, next[name] ?? null]),
  )
}

/** An `after` timing is kept with `overlap: 'skip'`, which another kind would inherit. */
function effective(form: FormState): Fields {
  const { fields } = fieldsOf(form)
  return form.timing.kind === 'after' ? { ...fields, overlap: 'skip' } : fields
}

/** My edits of `before` made on what it has become since. */
export function rebased(form: FormState, before: FormState, theirs: FormState): FormState {
  const mine = Object.keys(patchOf(form, before)).map((field) => [field, form[field as keyof FormState]])
  return { ...theirs, ...Object.fromEntries(mine) }
}
