import { createBreather } from '../breather.js'
import { previewInSteps } from '../client/previewing.js'
import { hostNow } from '../clock.js'
import { boundsOf, countAhead } from '../schedules/bounds.js'
import { formatInstant } from '../time/instant.js'
import { readAnchor } from '../time/once.js'
import type { Preview } from '../time/preview.js'
import { type Report, readOrThrow } from '../time/report.js'
import { beginningAt } from '../time/rrule.js'
import { parseTiming } from '../time/timing.js'

interface PreviewRequest {
  timing: unknown
  after?: string | undefined
  count?: number | undefined
  startAt?: string | undefined
  endAt?: string | undefined
  limit?: number | undefined
}

/** The plan times of a timing as a caller writes it; bounds without an offset are on the wall of its zone. */
export async function previewOf({ count = 10, limit, ...given }: PreviewRequest): Promise<Preview> {
  const parsed = parseTiming(given.timing)
  const zone = 'zone' in parsed ? parsed.zone : 'UTC'
  const read = (field: 'after' | 'startAt' | 'endAt', report: Report) =>
    given[field] === undefined ? undefined : readAnchor(given[field], zone, field, report)
  const { after, startAt, endAt } = readOrThrow('option_invalid', (report) => ({
    after: read('after', report) ?? hostNow(),
    startAt: read('startAt', report),
    endAt: read('endAt', report),
  }))
  // As a schedule has it: one that names no start begins at the default anchor, not when it is made.
  const timing = parsed.kind === 'rrule' && startAt !== undefined ? beginningAt(parsed, startAt) : parsed
  if (limit === undefined) return previewInSteps(timing, { after, count, startAt, endAt })
  // A limit that names no start counts from here.
  const from = startAt ?? after + 1
  const content = {
    timing,
    limit,
    startAt: formatInstant(from),
    endAt: endAt === undefined ? null : formatInstant(endAt),
  }
  await countAhead(content, from, createBreather())
  const { untilAt } = boundsOf(content, from)
  return previewInSteps(timing, { after, count, startAt, endAt: untilAt ?? undefined })
}
