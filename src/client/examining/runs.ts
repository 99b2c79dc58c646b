import { readClaiming } from '../../store/queries/control.js'
import {
  listExpiredLeases,
  listFailing,
  listUntaken,
  listUntakenOfSchedules,
  type Untaken,
} from '../../store/queries/run-symptoms.js'
import { listUnseenHolders } from '../../store/queries/workers.js'
import type { Session } from '../../store/store.js'
import {
  counted,
  type Diagnosis,
  MOST_COUNTED,
  MOST_TOLD,
  shellWord,
  timeOf,
  told,
  toldOf,
} from '../diagnosis.js'

const LATE_MS = 60_000
/** A worker says every five seconds or sooner that it lives. */
const ALIVE_MS = 60_000
const DAY_MS = 86_400_000
/** Of a job, in a day: some of any work fail. */
const MANY_FAILED = 10

export async function examineLeases(session: Session): Promise<Diagnosis[]> {
  const expired = await listExpiredLeases(session, { limit: MOST_TOLD, most: MOST_COUNTED, lateMs: LATE_MS })
  const unseen = await listUnseenHolders(session, ALIVE_MS)
  return [
    ...toldOf('expired_lease', expired, ({ id, job, worker_id, since }) => ({
      subject: id,
      detail: `a run of job ${job}, whose lease by worker ${worker_id} ended at ${timeOf(since)} and which nobody has taken over`,
      fix: 'start a worker: any of them takes over what others have left',
      command: 'escapement worker',
    })),
    ...told('dead_worker', unseen, ({ id, host, pid, seen_at, runs }) => ({
      subject: id,
      detail: `process ${pid} on ${host} was last seen at ${timeOf(seen_at)} and still holds ${counted(runs, 'run', 'runs')}`,
      fix: 'look whether that process hangs or is gone; its runs are taken over by another worker when their leases end',
      command: 'escapement workers',
    })),
  ]
}

export async function examineWaiting(session: Session): Promise<Diagnosis[]> {
  const patience = { lateMs: LATE_MS, aliveMs: ALIVE_MS }
  const untaken = await listUntaken(session, patience)
  if (untaken[0]?.workers === 0) return told('no_worker', [joined(untaken)], noWorker)
  const unknown = byJob(untaken.filter(({ is_known }) => !is_known))
  const behind = byJob(await listUntakenOfSchedules(session, patience)).filter(
    ({ job }) => !unknown.some((found) => found.job === job),
  )
  return [
    ...told('unknown_job', [...unknown, ...behind], (found) => ({
      subject: found.job,
      detail: `${waiting(found)} for it, and no worker has it`,
      fix: 'start a worker that has this job, or cancel the runs and delete the schedules that ask for it',
      command: `escapement runs list --job=${shellWord(found.job)}`,
    })),
    ...told(
      'unserved_queue',
      untaken.filter(({ is_known }) => is_known),
      (found) => ({
        subject: found.queue,
        detail: `${waiting(found)} in it for job ${found.job}, and no worker that has this job serves the queue`,
        fix: 'give a worker that has the job this queue with its option queues',
        command: 'escapement workers',
      }),
    ),
  ]
}

type Waiting = Pick<Untaken, 'runs' | 'has_more' | 'since'>

function noWorker(found: Waiting) {
  return {
    subject: 'workers',
    detail: `${waiting(found)}, and no worker lives`,
    fix: 'start one that has their jobs',
    command: 'escapement worker',
  }
}

function waiting({ runs, has_more, since }: Waiting): string {
  const many = `${has_more ? 'at least ' : ''}${counted(runs, 'run waits', 'runs wait')}`
  return `${many} since ${timeOf(since)}`
}

/** The longest waiting are the first. */
function joined(found: readonly Untaken[]): Waiting {
  return {
    runs: found.reduce((sum, { runs }) => sum + runs, 0),
    has_more: found.some(({ has_more }) => has_more),
    since: found[0]!.since,
  }
}

function byJob(found: readonly Untaken[]): (Waiting & { job: string })[] {
  const jobs = [...new Set(found.map(({ job }) => job))]
  return jobs.map((job) => ({ job, ...joined(found.filter((each) => each.job === job)) }))
}

export async function examineFailures(session: Session): Promise<Diagnosis[]> {
  const failing = await listFailing(session, {
    atLeast: MANY_FAILED,
    withinMs: DAY_MS,
    most: MOST_COUNTED,
    limit: MOST_TOLD,
  })
  return told('failing_job', failing, ({ job, runs, last_failed_at, has_more }) => ({
    subject: job,
    detail: `${has_more ? 'at least ' : ''}${runs} runs have failed for good within a day, the last at ${timeOf(last_failed_at)}`,
    fix: 'look at their errors, mend the cause, then retry them',
    command: `escapement runs list --state failed --job=${shellWord(job)}`,
  }))
}

export async function examineClaiming(session: Session): Promise<Diagnosis[]> {
  const { paused_at, paused_by, paused_reason } = await readClaiming(session)
  if (paused_at === null) return []
  const by = `${paused_by === null ? '' : ` by ${paused_by}`}${paused_reason === null ? '' : `: ${paused_reason}`}`
  return told('claiming_paused', [by], () => ({
    subject: 'claiming',
    detail: `no run is begun since ${timeOf(paused_at)}, paused${by}`,
    fix: 'resume it when the reason is gone',
    command: 'escapement claiming resume',
  }))
}
