/**
 * `{{planTime}}` and its like, in texts of an input. They are read in one pass: what a value holds is never read again. `\{{` is
 * for those who mean the braces themselves.
 */
import { NonRetryableError } from '../runs/retry-delay.js'
import { didYouMean } from '../time/did-you-mean.js'
import { quote } from '../time/report.js'

/** What templates can name; `event` with any path below it. */
export interface TemplateFields {
  run: { id: string }
  job: string
  schedule: string | null
  scope: string | null
  planTime: string | null
  previousPlanTime: string | null
  trigger: string
  attempt: number
  event: unknown
}

const NAMES = [
  'run.id',
  'job',
  'schedule',
  'scope',
  'planTime',
  'previousPlanTime',
  'trigger',
  'attempt',
  'event',
]
const TOKEN = /\\\{\{|\{\{([^{}]*)\}\}/g
const WHOLE = /^\{\{([^{}]*)\}\}$/

/** What is wrong with the templates of a text. */
export function templateMistakes(text: string): string[] {
  const mistakes: string[] = []
  const rest = text.replace(TOKEN, (token, name: string | undefined) => {
    const mistake = name === undefined ? null : nameMistake(name.trim())
    if (mistake !== null) mistakes.push(`${quote(token)} – ${mistake}`)
    return ''
  })
  if (rest.includes('{{')) mistakes.push(`${quote(text)} – has a "{{" without its "}}"; ${LITERAL}`)
  return mistakes
}

const LITERAL = 'for the braces themselves write "\\{{"'

function nameMistake(name: string): string | null {
  if (NAMES.includes(name) || /^event(?:\.[^.\s]+)+$/.test(name)) return null
  const known = `the names are ${NAMES.join(', ')} and event.…`
  return `there is no ${quote(name)}${didYouMean(name, NAMES)}; ${known}; ${LITERAL}`
}

/** The text with something in place of each template. */
export function withoutTemplates(text: string, substitute: string): string {
  return text.replace(TOKEN, (_, name) => (name === undefined ? '{{' : substitute))
}

/** What the values of one call may come to together, in characters: a small input can name a large value any number of times. */
export const LONGEST_VALUES = 1_000_000

/** How much of that is left. */
export interface Room {
  left: number
}

function take(room: Room, length: number): void {
  room.left -= length
  if (room.left >= 0) return
  throw new NonRetryableError(
    `the values of its templates come to more than ${LONGEST_VALUES.toLocaleString('en-US')} characters; name less of "event", or name it less often`,
  )
}

/** The text with the values in it; nothing stands for what there is not. */
export function expandText(
  text: string,
  fields: TemplateFields,
  encode: (value: string) => string = (value) => value,
  room: Room = { left: LONGEST_VALUES },
): string {
  return text.replace(TOKEN, (_, name: string | undefined) => {
    if (name === undefined) return '{{'
    const value = valueAt(name, fields)
    if (value === null) return ''
    const expanded = encode(typeof value === 'string' ? value : JSON.stringify(value))
    take(room, expanded.length)
    return expanded
  })
}

/** JSON with the values in its texts; a text that is one template alone becomes what that stands for, with its type. */
export function expandJson(
  json: unknown,
  fields: TemplateFields,
  room: Room = { left: LONGEST_VALUES },
): unknown {
  if (typeof json === 'string') {
    const whole = WHOLE.exec(json)
    if (!whole) return expandText(json, fields, undefined, room)
    const value = valueAt(whole[1]!, fields)
    // Not copied here, but wherever it is named when all is written out.
    take(room, JSON.stringify(value).length)
    return value
  }
  if (Array.isArray(json)) return json.map((item) => expandJson(item, fields, room))
  if (typeof json !== 'object' || json === null) return json
  return Object.fromEntries(Object.entries(json).map(([key, item]) => [key, expandJson(item, fields, room)]))
}

function valueAt(name: string, fields: TemplateFields): unknown {
  let value: unknown = fields
  for (const step of name.trim().split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return null
    value = (value as Record<string, unknown>)[step]
  }
  return value ?? null
}
