import { type AuditReport, client } from '../../api/client.ts'

export type WholeReport = Omit<AuditReport, 'nextPageToken'>

/** Schedules that are asked for at once: seldom more than a second's work. */
const PAGE = 1_000
/** What makes the ledger wrong; other zone data does not. */
export const MISTAKES = ['missing', 'double', 'unexpected'] as const

export interface AuditProgress {
  done: number
  total: number
}

/** Page after page, so that whoever waits sees how far it has come, and no answer takes long. */
export async function runAudit(
  onProgress: (progress: AuditProgress) => void,
  signal: AbortSignal,
): Promise<WholeReport> {
  const { schedules } = await client.stats({ signal })
  const total = Object.values(schedules).reduce((sum, count) => sum + count, 0)
  const whole: WholeReport = {
    schedules: 0,
    occurrences: 0,
    missing: [],
    double: [],
    unexpected: [],
    zoneData: [],
  }
  onProgress({ done: 0, total })
  for (let pageToken: string | null = null; ; ) {
    const page: AuditReport = await client.audit(
      { limit: PAGE, ...(pageToken !== null && { pageToken }) },
      { signal },
    )
    whole.schedules += page.schedules
    whole.occurrences += page.occurrences
    for (const kind of [...MISTAKES, 'zoneData'] as const) whole[kind].push(...page[kind])
    onProgress({ done: whole.schedules, total: Math.max(total, whole.schedules) })
    pageToken = page.nextPageToken
    if (pageToken === null) return whole
  }
}
