import { EscapementError } from '../errors.js'
import type { Param } from './database.js'

/**
 * How values cross the connection, in one place for both databases: a driver's own parsers, and what a caller made
 * of them for their purposes, do not reach our rows. Types that are not listed stay text.
 */
export const VALUE_PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => text === 't', // bool
  17: (text) => Buffer.from(text.slice(2), 'hex'), // bytea
  20: toSafeInteger, // int8
  21: Number, // int2
  23: Number, // int4
  26: Number, // oid
  114: (text) => JSON.parse(text), // json
  700: Number, // float4
  701: Number, // float8
  1184: toDate, // timestamptz
  3802: (text) => JSON.parse(text), // jsonb
}

/** Array type → type of its elements. */
export const ARRAY_ELEMENTS: Readonly<Record<number, number>> = {
  1000: 16, // bool[]
  1005: 21, // int2[]
  1007: 23, // int4[]
  1009: 25, // text[]
  1015: 1043, // varchar[]
  1016: 20, // int8[]
  1022: 701, // float8[]
  1185: 1184, // timestamptz[]
  1231: 1700, // numeric[]
  2951: 2950, // uuid[]
  3807: 3802, // jsonb[]
}

/** ISO text for dates, so that neither the host's zone nor the session's has a say. */
export function toWire(param: Param): unknown {
  if (param instanceof Date) return param.toISOString()
  if (Array.isArray(param)) return param.map(toWire)
  return param
}

function toSafeInteger(text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value)) return value
  throw new EscapementError('database_unusable', {
    message: `The database answered ${text} where an integer of at most 2^53 - 1 was expected.`,
    details: { value: text },
  })
}

const TIMESTAMPTZ =
  /^(\d{4,6})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?$/

/** The session's zone decides the offset in the text; old local mean times have seconds in it. */
function toDate(text: string): Date {
  const match = TIMESTAMPTZ.exec(text)
  if (!match) {
    throw new EscapementError('database_unusable', {
      message: `The database answered the timestamp "${text}", which no Date can hold (or DateStyle is not ISO).`,
      details: { value: text },
    })
  }
  const [, year, month, day, hour, minute, second, fraction = '', sign, h, m = '0', s = '0'] = match
  const wall = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
    Number(fraction.padEnd(3, '0').slice(0, 3)),
  )
  const offset = (Number(h) * 3600 + Number(m) * 60 + Number(s)) * 1000
  return new Date(sign === '-' ? wall + offset : wall - offset)
}
