import { type AnyJob, isJob } from '../runs/job.js'
import { type JobRegistry, unknownJob } from '../runs/job-registry.js'
import { listJobs, type PublishedJob } from '../store/queries/workers.js'
import type { Session } from '../store/store.js'

/** The code of a job, where this process has it: a handle is the code. */
export function codeOf(jobs: JobRegistry, job: AnyJob | string): AnyJob | undefined {
  if (isJob(job)) return job
  return jobs.get(typeof job === 'string' ? job : (job as { name: string }).name)
}

/** What workers have published, if a job is asked for that this process has not; one that nobody has is refused. */
export async function requireJobs(
  session: Session,
  jobs: JobRegistry,
  asked: readonly (AnyJob | string)[],
): Promise<PublishedJob[]> {
  const missing = asked.filter((job) => codeOf(jobs, job) === undefined)
  if (missing.length === 0) return []
  const published = await listJobs(session)
  const known = new Set([...jobs.all(), ...published].map(({ name }) => name))
  for (const job of missing) {
    const name = typeof job === 'string' ? job : job.name
    if (!known.has(name)) throw unknownJob(name, [...known])
  }
  return published
}
