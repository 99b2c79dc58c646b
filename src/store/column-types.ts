import { EscapementError } from '../errors.js'

/** Object ids of the built-in types whose text we read ourselves; they are fixed in PostgreSQL's catalogue. */
export const INT8 = 20
export const DATE = 1082
export const TIMESTAMP = 1114
export const TIMESTAMPTZ = 1184

/** A number, or an error for a value that a number would round. */
export function parseInt8(text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value)) return value
  throw new EscapementError('value_out_of_range', {
    message: `The bigint ${text} is beyond what a number holds exactly. Select it as text: column::text.`,
    details: { value: text },
  })
}

// The offset may carry seconds: before standard time, zones had their local mean time, such as +00:09:21.
const INSTANT =
  /^(\d+)-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d+))?([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?( BC)?$/

/**
 * Reads `timestamptz` in the ISO style in whatever zone the session shows it, at millisecond precision (digits
 * beyond are cut off). `Date.parse` would fail on offsets with seconds, on years above 9999 and on BC.
 */
export function parseTimestamptz(text: string): Date | number {
  const usual = parseUsualTimestamptz(text)
  if (usual !== null) return usual
  if (text === 'infinity') return Number.POSITIVE_INFINITY
  if (text === '-infinity') return Number.NEGATIVE_INFINITY
  const match = INSTANT.exec(text)
  if (!match) {
    throw new EscapementError('value_out_of_range', {
      message: `Cannot read the timestamp "${text}". Keep DateStyle at ISO.`,
      details: { value: text },
    })
  }
  const part = (index: number) => Number(match[index] ?? 0)
  const year = match[12] ? 1 - part(1) : part(1)
  const wall = new Date(0)
  wall.setUTCFullYear(year, part(2) - 1, part(3))
  wall.setUTCHours(part(4), part(5), part(6), Number((match[7] ?? '').slice(0, 3).padEnd(3, '0')))
  const offsetMs = (part(9) * 3600 + part(10) * 60 + part(11)) * 1000
  return new Date(wall.getTime() - (match[8] === '-' ? -offsetMs : offsetMs))
}

const [ZERO, MINUS, PLUS, COLON, DOT] = [48, 45, 43, 58, 46]

/** Rows that come together mostly have the same few. */
let latest = { text: '', ms: 0 }

/** The same for what nearly all are: years 1000 to 9999, at most milliseconds, offsets of hours and minutes; else null. */
function parseUsualTimestamptz(text: string): Date | null {
  if (text === latest.text) return new Date(latest.ms)
  const code = (at: number) => text.charCodeAt(at)
  const two = (at: number) => (code(at) - ZERO) * 10 + code(at + 1) - ZERO
  if (code(4) !== MINUS || code(0) === ZERO) return null
  let at = 19
  let ms = 0
  if (code(at) === DOT) {
    for (let unit = 100; ++at < 23 && code(at) >= ZERO; unit /= 10) ms += (code(at) - ZERO) * unit
  }
  const isAhead = code(at) === PLUS
  if (!isAhead && code(at) !== MINUS) return null
  const hasMinutes = text.length === at + 6 && code(at + 3) === COLON
  if (!hasMinutes && text.length !== at + 3) return null
  const offset = two(at + 1) * 60 + (hasMinutes ? two(at + 4) : 0)
  const minute = two(14) + (isAhead ? -offset : offset)
  latest = { text, ms: Date.UTC(two(0) * 100 + two(2), two(5) - 1, two(8), two(11), minute, two(17), ms) }
  return new Date(latest.ms)
}

/** A date or timestamp without a zone is no instant: it stays the text that the database shows. */
export function keepText(text: string): string {
  return text
}

/** How each built-in type is read where the driver leaves it to us; a type that is not listed stays text. */
export const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => text === 't', // bool
  17: (text) => Buffer.from(text.slice(2), 'hex'), // bytea
  21: Number, // int2
  23: Number, // int4
  26: Number, // oid
  114: (text) => JSON.parse(text), // json
  700: Number, // float4
  701: Number, // float8
  3802: (text) => JSON.parse(text), // jsonb
  [INT8]: parseInt8,
  [TIMESTAMPTZ]: parseTimestamptz,
}

/** Array type → type of its elements. */
export const ARRAY_ELEMENTS: Readonly<Record<number, number>> = {
  1000: 16, // bool[]
  1005: 21, // int2[]
  1007: 23, // int4[]
  1009: 25, // text[]
  1015: 1043, // varchar[]
  1016: INT8,
  1022: 701, // float8[]
  1115: TIMESTAMP,
  1182: DATE,
  1185: TIMESTAMPTZ,
  1231: 1700, // numeric[]
  2951: 2950, // uuid[]
  3807: 3802, // jsonb[]
}
