import { InvalidArgumentError } from 'commander'
import { hostNow } from '../clock.js'
import { EscapementError } from '../errors.js'
import { durationToMs } from '../time/duration.js'
import { readAnchor } from '../time/once.js'
import { readOrThrow } from '../time/report.js'

export const TIME_FLAG_HELP =
  '"2026-12-01T09:00" on the wall here or with an offset, "2 hours ago", "in 3 days", "now"'

/** An instant as people say it, for the API. */
export function parseTime(text: string): string {
  try {
    return new Date(instantOf(text.trim())).toISOString()
  } catch (error) {
    if (!(error instanceof EscapementError)) throw error
    throw new InvalidArgumentError(`It must be a time: ${TIME_FLAG_HELP}.`)
  }
}

function instantOf(text: string): number {
  if (text === 'now') return hostNow()
  const past = /^(.+) ago$/.exec(text)
  if (past) return hostNow() - durationToMs(past[1]!, 'time')
  const future = /^in (.+)$/.exec(text)
  if (future) return hostNow() + durationToMs(future[1]!, 'time')
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone
  return readOrThrow('option_invalid', (report) => readAnchor(text, zone, 'time', report))
}
