import type { Escapement } from '../../escapement.js'
import type { Run } from '../../runs/run.js'
import {
  type FailedAttempt,
  listFailedAttempts,
  listLanes,
  listVersions,
  type ScheduleVersion,
} from '../../store/queries/witnessing.js'
import type { Session } from '../../store/store.js'

const PAGE = 1_000

/** What the database says in the end, to be compared with what was seen. */
export interface Recorded {
  runs: ReadonlyMap<string, Run>
  /** Failed attempts, by `attemptKey`. */
  attempts: ReadonlyMap<string, FailedAttempt>
  /** Of open runs, by id. */
  lanes: ReadonlyMap<string, number | null>
  /** Of each schedule, by id, the oldest first. */
  versions: ReadonlyMap<string, ScheduleVersion[]>
}

export function attemptKey(runId: string, attempt: number): string {
  return `${runId} ${attempt}`
}

export async function readRecorded(escapement: Escapement, session: Session): Promise<Recorded> {
  const attempts = await listFailedAttempts(session)
  const versions = new Map<string, ScheduleVersion[]>()
  for (const version of await listVersions(session)) {
    const own = versions.get(version.schedule_id)
    if (own) own.push(version)
    else versions.set(version.schedule_id, [version])
  }
  return {
    runs: await allRuns(escapement),
    attempts: new Map(attempts.map((attempt) => [attemptKey(attempt.run_id, attempt.number), attempt])),
    lanes: new Map((await listLanes(session)).map(({ id, lane }) => [id, lane])),
    versions,
  }
}

async function allRuns({ runs }: Escapement): Promise<Map<string, Run>> {
  const found = new Map<string, Run>()
  let pageToken: string | null = null
  do {
    const page: Awaited<ReturnType<typeof runs.search>> = await runs.search({
      limit: PAGE,
      ...(pageToken !== null && { pageToken }),
    })
    for (const run of page.runs) found.set(run.id, run)
    pageToken = page.nextPageToken
  } while (pageToken !== null)
  return found
}

/** The version by which a run was planned, or asked for; undefined where that is not known any more. */
export function versionOf(run: Run, versions: Recorded['versions']): ScheduleVersion | undefined {
  return versions.get(run.scheduleId!)?.findLast(({ version }) => version <= run.scheduleVersion!)
}
