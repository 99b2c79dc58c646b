import { formatDateTime, type Instant, type InstantInput, readDateTime } from './instant.js'
import type { Report } from './report.js'
import { instantOf, type MappedPattern } from './wall-mapping.js'
import { readZone, readZoneName } from './zone.js'

/** One instant. */
export interface OnceTiming {
  kind: 'once'
  /** An instant in UTC (`…Z`), or wall time in `zone`, which follows the zone's rules if those change. */
  at: string
  zone: string
}

export interface OnceFields {
  at: InstantInput
  /** @default 'UTC' */
  zone?: string | undefined
}

export function readOnce(fields: OnceFields, field: string, report: Report): OnceTiming | undefined {
  const zone = readZoneName(fields.zone, `${field}.zone`, report)
  const at = readDateTime(fields.at, `${field}.at`, report)
  if (zone === undefined || at === undefined) return undefined
  return { kind: 'once', at: formatDateTime(at), zone }
}

export function mapOnce(timing: OnceTiming, report: Report): MappedPattern | undefined {
  const instant = readAnchor(timing.at, timing.zone, 'timing.at', report)
  if (instant === undefined) return undefined
  return {
    next: (after) => (instant > after ? instant : null),
    previous: (before) => (instant < before ? instant : null),
  }
}

/** A date-time as an instant; wall time is read in the zone, with `shift` and `first` at its seams. */
export function readAnchor(input: unknown, zone: string, field: string, report: Report): Instant | undefined {
  const read = readDateTime(input, field, report)
  const known = readZone(zone, 'timing.zone', report)
  if (read === undefined || known === undefined) return undefined
  return 'instant' in read ? read.instant : instantOf(known, read.wall)
}
