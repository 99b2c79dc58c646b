import type { Body, CallOptions, HttpClient, Result } from './index.js'

export type ScheduleFilter = Body<'resumeSchedules'>['filter']
type PauseBody = Omit<Body<'pauseSchedules'>, 'filter' | 'dryRun' | 'pageToken'>

/** What is done to all that a filter finds. */
export type BulkVerb = { verb: 'pause'; pause: PauseBody } | { verb: 'resume' }

/** How many it would change; what is wrong with it is refused already. */
export async function countChanges(
  client: HttpClient,
  act: BulkVerb,
  filter: ScheduleFilter,
  more?: CallOptions,
): Promise<number> {
  const body = { filter, dryRun: true }
  const { changed } =
    act.verb === 'pause'
      ? await client.schedules.pauseAll({ ...body, ...act.pause }, more)
      : await client.schedules.resumeAll(body, more)
  return changed
}

/** Portion after portion, so that whoever waits sees how far it has come, and no answer takes long. Returns how many changed. */
export async function changeWhole(
  client: HttpClient,
  act: BulkVerb,
  filter: ScheduleFilter,
  onProgress: (changed: number) => void,
  more?: CallOptions,
): Promise<number> {
  let changed = 0
  for (let pageToken: string | null = null; ; ) {
    const body = { filter, ...(pageToken !== null && { pageToken }) }
    const report: Result<'pauseSchedules'> =
      act.verb === 'pause'
        ? await client.schedules.pauseAll({ ...body, ...act.pause }, more)
        : await client.schedules.resumeAll(body, more)
    changed += report.changed
    onProgress(changed)
    pageToken = report.nextPageToken
    if (pageToken === null) return changed
  }
}
