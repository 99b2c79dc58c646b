import { DAY_MS, dayNumber, HOUR_MS, MINUTE_MS, SECOND_MS, type WallTime } from './calendar.js'
import { didYouMean } from './did-you-mean.js'
import type { Instant } from './instant.js'
import { quote, type Report } from './report.js'
import { type Segment, ZoneSegments } from './zone-segments.js'

/** A time zone: which offset holds when. What a wall time means is decided in `wall-mapping.ts`. */
export interface Zone {
  /** IANA name; links keep their own name (`Asia/Kolkata`). */
  readonly name: string
  segmentAt(instant: Instant): Segment
}

export const DEFAULT_ZONE = 'UTC'

const zones = new Map<string, Zone>()

/** Zones are shared and kept: there are only some hundreds, and their tables are what makes planning fast. */
export function zoneNamed(name: string): Zone {
  let zone = zones.get(name)
  if (zone === undefined) {
    const segments = new ZoneSegments(offsetReader(name))
    zone = { name, segmentAt: (instant) => segments.at(instant) }
    zones.set(name, zone)
  }
  return zone
}

/** As {@link zoneNamed}, for a name that this runtime may not know: a row can come from a host with newer zone data. */
export function readZone(name: string, field: string, report: Report): Zone | undefined {
  const known = readZoneName(name, field, report)
  return known === undefined ? undefined : zoneNamed(known)
}

const NAME = /^[a-z][a-z0-9_+\-/]{1,63}$/i

/** The zone's name in its usual spelling. Offsets such as `+05:30` are no zones: runtimes disagree on them. */
export function readZoneName(input: unknown, field: string, report: Report): string | undefined {
  if (input === undefined) return DEFAULT_ZONE
  if (typeof input !== 'string')
    return report(field, `${quote(input)} – expected a zone such as "Europe/Paris"`)
  if (zones.has(input)) return input
  if (NAME.test(input)) {
    try {
      return usualSpelling(
        input,
        new Intl.DateTimeFormat('en-US', { timeZone: input }).resolvedOptions().timeZone,
      )
    } catch {
      // Not a zone: said below, together with the nearest name.
    }
  }
  return report(field, `${quote(input)} – is not an IANA time zone${zoneHint(input)}`)
}

/** `Intl` resolves links, and to old names at that (`Asia/Kolkata` to `Asia/Calcutta`): only its case is of use. */
function usualSpelling(input: string, resolved: string): string {
  return resolved.toLowerCase() === input.toLowerCase() ? resolved : input
}

function zoneHint(input: string): string {
  if (/^(UTC|GMT)?[+-]\d/i.test(input))
    return '; a fixed offset is written "Etc/GMT-5", which is 5 hours east of UTC'
  const names = Intl.supportedValuesOf('timeZone')
  const city = input.replaceAll(' ', '_').toLowerCase()
  const byCity = names.find((name) => name.toLowerCase().endsWith(`/${city}`))
  return byCity === undefined ? didYouMean(input, names) : ` (did you mean "${byCity}"?)`
}

/** One formatter per zone: making one costs far more than using it. */
function offsetReader(name: string): (instant: Instant) => number {
  const formatter = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
  if (formatter.resolvedOptions().timeZone === 'UTC') return () => 0
  return (instant) => shownTime(formatter, instant) - Math.floor(instant / SECOND_MS) * SECOND_MS
}

function shownTime(formatter: Intl.DateTimeFormat, instant: Instant): WallTime {
  const shown: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {}
  for (const { type, value } of formatter.formatToParts(instant)) shown[type] = Number(value)
  return (
    dayNumber(shown.year!, shown.month!, shown.day!) * DAY_MS +
    shown.hour! * HOUR_MS +
    shown.minute! * MINUTE_MS +
    shown.second! * SECOND_MS
  )
}

/** The version of the time zone data that this runtime computes with, such as `2025c`. */
export function zoneDataVersion(): string {
  return process.versions.tz ?? 'unknown'
}
