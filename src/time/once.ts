import type { WallTime } from './calendar.js'
import { formatDateTime, type Instant, type InstantInput, readDateTime } from './instant.js'
import type { Report } from './report.js'
import {
  instantOf,
  type MappedPattern,
  mapPattern,
  SHIFT_AND_FIRST,
  type WallPattern,
} from './wall-mapping.js'
import { readZone, readZoneName } from './zone.js'

/** One instant. */
export interface OnceTiming {
  kind: 'once'
  /** An instant in UTC (`…Z`), or wall time in `zone`, which follows the zone's rules if those change. */
  at: string
  zone: string
}

/** `once`: one instant. */
export interface OnceFields {
  /** When. Without an offset it is on the wall of the zone. */
  at: InstantInput
  /**
   * The time zone on whose wall it is, by its IANA name.
   * @default 'UTC'
   */
  zone?: string | undefined
}

export function readOnce(fields: OnceFields, field: string, report: Report): OnceTiming | undefined {
  const zone = readZoneName(fields.zone, `${field}.zone`, report)
  const at = readDateTime(fields.at, `${field}.at`, report)
  if (zone === undefined || at === undefined) return undefined
  return { kind: 'once', at: formatDateTime(at), zone }
}

export function mapOnce(timing: OnceTiming, report: Report): MappedPattern | undefined {
  const at = readDateTime(timing.at, 'timing.at', report)
  const zone = readZone(timing.zone, 'timing.zone', report)
  if (at === undefined || zone === undefined) return undefined
  if ('wall' in at) return mapPattern(singleTime(at.wall), zone, SHIFT_AND_FIRST)
  return {
    next: (after) => (at.instant > after ? at.instant : null),
    previous: (before) => (at.instant < before ? at.instant : null),
  }
}

function singleTime(time: WallTime): WallPattern {
  return {
    atOrAfter: (wall) => (wall <= time ? time : Number.POSITIVE_INFINITY),
    atOrBefore: (wall) => (wall >= time ? time : Number.NEGATIVE_INFINITY),
  }
}

/** A date-time as an instant; wall time is read in the zone, with `shift` and `first` at its seams. */
export function readAnchor(input: unknown, zone: string, field: string, report: Report): Instant | undefined {
  const read = readDateTime(input, field, report)
  const known = readZone(zone, 'timing.zone', report)
  if (read === undefined || known === undefined) return undefined
  return 'instant' in read ? read.instant : instantOf(known, read.wall)
}
