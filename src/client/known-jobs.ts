import { checkBySchema } from '../runs/input-schema.js'
import { type AnyJob, checkInput, isJob } from '../runs/job.js'
import { type JobRegistry, unknownJob } from '../runs/job-registry.js'
import { listJobs, type PublishedJob } from '../store/queries/workers.js'
import type { Session } from '../store/store.js'

/** The code of a job, where this process has it: a handle is the code. */
export function codeOf(jobs: JobRegistry, job: AnyJob | string): AnyJob | undefined {
  return isJob(job) ? job : jobs.get(nameOf(job))
}

function nameOf(job: AnyJob | string): string {
  return typeof job === 'string' ? job : job.name
}

/** What workers have published, if a job is asked for that this process has not; one that nobody has is refused. */
export async function requireJobs(
  session: Session,
  jobs: JobRegistry,
  asked: readonly (AnyJob | string)[],
  { isLimited = false }: { isLimited?: boolean } = {},
): Promise<PublishedJob[]> {
  const missing = asked.filter((job) => codeOf(jobs, job) === undefined).map(nameOf)
  if (missing.length === 0) return []
  const published = await listJobs(session, missing)
  const known = new Set([...jobs.all(), ...published].map(({ name }) => name))
  for (const name of missing) {
    if (!known.has(name)) throw unknownJob(name, isLimited ? null : [...known])
  }
  return published
}

/** The code of a job, or what was published of it; undefined where nobody has told of it. */
export async function findJob(
  { store, jobs }: { store: Session; jobs: JobRegistry },
  name: string,
): Promise<AnyJob | PublishedJob | undefined> {
  return jobs.get(name) ?? (await listJobs(store, [name])).find((job) => job.name === name)
}

/** Whether there is anything to check an input of it by. */
export function hasSchema(job: AnyJob | PublishedJob | undefined): boolean {
  return job !== undefined && (isJob(job) ? job.schema !== undefined : Boolean(job.input_schema))
}

/** By the code of the job, or else by what was published of it; `at` is where the input was given. */
export async function checkInputOf(
  job: AnyJob | PublishedJob | undefined,
  input: unknown,
  at = 'input',
): Promise<void> {
  if (job === undefined) return
  if (isJob(job)) await checkInput(job, input, at)
  else if (job.input_schema) await checkBySchema(job.input_schema, input ?? null, at)
}
