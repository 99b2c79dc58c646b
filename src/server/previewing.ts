import { hostNow } from '../clock.js'
import { readAnchor } from '../time/once.js'
import { type Preview, previewOccurrences } from '../time/preview.js'
import { type Report, readOrThrow } from '../time/report.js'
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
export function previewOf({ count = 10, limit, ...given }: PreviewRequest): Preview {
  const timing = parseTiming(given.timing)
  const zone = 'zone' in timing ? timing.zone : 'UTC'
  const read = (field: 'after' | 'startAt' | 'endAt', report: Report) =>
    given[field] === undefined ? undefined : readAnchor(given[field], zone, field, report)
  const options = readOrThrow('option_invalid', (report) => ({
    after: read('after', report) ?? hostNow(),
    startAt: read('startAt', report),
    endAt: read('endAt', report),
  }))
  return previewOccurrences(timing, { ...options, count, limit })
}
