import { InvalidArgumentError } from 'commander'
import { hostNow } from '../clock.js'
import { EscapementError } from '../errors.js'
import { durationToMs } from '../time/duration.js'
import type { Instant } from '../time/instant.js'
import { readAnchor } from '../time/once.js'
import { readOrThrow } from '../time/report.js'
import { hostZone } from './moment.js'

export const TIME_FLAG_HELP =
  '"2026-12-01T09:00" on the wall here or with an offset, "2 hours ago", "in 3 days", "now"'
/** The same where a schedule is known. */
export const OWN_TIME_HELP =
  '"2026-12-01T09:00" in the zone of the schedule or with an offset, "2 hours ago", "in 3 days", "now"'

/** An instant as people say it, for the API. */
export function parseTime(text: string): string {
  try {
    return new Date(readTime(text, 'time', hostZone())).toISOString()
  } catch (error) {
    if (!(error instanceof EscapementError)) throw error
    throw new InvalidArgumentError(`It must be a time: ${TIME_FLAG_HELP}.`)
  }
}

/** The same, on the wall of the zone where it has no offset. */
export function readTime(text: string, flag: string, zone: string, now: Instant = hostNow()): Instant {
  const said = text.trim()
  if (/^now$/i.test(said)) return now
  const past = /^(.+)\sago$/i.exec(said)
  if (past) return now - durationToMs(past[1]!.trim(), flag)
  const future = /^in\s(.+)$/i.exec(said)
  if (future) return now + durationToMs(future[1]!.trim(), flag)
  return readOrThrow('option_invalid', (report) => readAnchor(said, zone, flag, report))
}

/** When something ends by itself, as the API takes it: an instant, or how long from now by the clock of the database. */
export async function readUntil(
  text: string,
  zone: () => string | Promise<string>,
): Promise<string | { in: string }> {
  const said = text.trim().replace(/^in\s+/i, '')
  if (!/^\d{4}-/.test(said)) return { in: said }
  const known = hasOffset(said) ? 'UTC' : await zone()
  return new Date(readTime(said, '--until', known)).toISOString()
}

function hasOffset(text: string): boolean {
  return /:.*(Z|[+-]\d{2}(:?\d{2})?)$/i.test(text)
}
