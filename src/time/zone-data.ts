/**
 * Time zones are rules that governments change, and each runtime has them as of some release of the IANA data, such as
 * `2025c`. Whoever keeps an instant that a zone's rules led to keeps the version beside it, to know when it must be
 * computed again.
 */
import { parseDuration } from './duration.js'
import type { Timing } from './timing.js'
import { zoneDataVersion } from './zone.js'

/** Data of a runtime that does not tell its version: older than any. */
const UNKNOWN = ''

/** What this runtime computes with. */
export const ZONE_DATA: string = /^\d{4}[a-z]+$/.test(zoneDataVersion()) ? zoneDataVersion() : UNKNOWN

/** Releases are named so that they sort: a year, then letters. */
export function isNewer(version: string, than: string): boolean {
  return version > than
}

/** The version to keep beside what a timing yielded under it; null where no zone's rules can move that. */
export function zoneDataOf(timing: Timing, version: string): string | null {
  return followsZone(timing) ? version : null
}

/** Zones without rules to change: the offsets from Greenwich. */
const FIXED = /^(?:UTC|GMT|Etc\/.+)$/

export function followsZone(timing: Timing): boolean {
  if (timing.kind === 'after' || FIXED.test(timing.zone)) return false
  if (timing.kind === 'once') return isWallTime(timing.at)
  if (timing.kind === 'every') return isWallTime(timing.anchor) || isCalendar(timing.every)
  return true
}

function isWallTime(text: string): boolean {
  return !text.endsWith('Z')
}

function isCalendar(step: string): boolean {
  return parseDuration(step).milliseconds === 0
}
