import type { CallOptions, HttpClient, Query, Result } from './index.js'

/** The reports of all pages together. */
export type WholeAudit = Omit<Result<'getAudit'>, 'nextPageToken'>

/** What makes the ledger wrong; other zone data does not. */
export const MISTAKES = ['missing', 'double', 'unexpected'] as const

/** Schedules that are asked for at once: seldom more than a tenth of a second's work. */
const PAGE = 250

/** Page after page, so that whoever waits sees how far it has come, and no answer takes long. */
export async function auditWhole(
  client: HttpClient,
  range: Pick<NonNullable<Query<'getAudit'>>, 'from' | 'to'>,
  onProgress: (done: number, total: number) => void,
  more?: CallOptions,
): Promise<WholeAudit> {
  const { schedules } = await client.stats(more)
  const total = Object.values(schedules).reduce((sum, count) => sum + count, 0)
  const whole: WholeAudit = {
    schedules: 0,
    occurrences: 0,
    missing: [],
    double: [],
    unexpected: [],
    zoneData: [],
  }
  onProgress(0, total)
  for (let pageToken: string | null = null; ; ) {
    const page: Result<'getAudit'> = await client.audit(
      { ...range, limit: PAGE, ...(pageToken !== null && { pageToken }) },
      more,
    )
    whole.schedules += page.schedules
    whole.occurrences += page.occurrences
    for (const kind of [...MISTAKES, 'zoneData'] as const) whole[kind].push(...page[kind])
    onProgress(whole.schedules, Math.max(total, whole.schedules))
    pageToken = page.nextPageToken
    if (pageToken === null) return whole
  }
}
