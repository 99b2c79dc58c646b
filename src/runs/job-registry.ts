import { EscapementError } from '../errors.js'
import { didYouMean } from '../time/did-you-mean.js'
import { quote } from '../time/report.js'
import { type AnyJob, isJob } from './job.js'

/** The jobs that this process has the code of. */
export interface JobRegistry {
  add(job: AnyJob): void
  get(name: string): AnyJob | undefined
  all(): AnyJob[]
}

export function createJobRegistry(): JobRegistry {
  const jobs = new Map<string, AnyJob>()
  return {
    add(job) {
      if (!isJob(job)) {
        throw new EscapementError('job_invalid', {
          message: `job: ${quote(job)} – must be a name and a definition, or what defineJob gives`,
        })
      }
      if (jobs.has(job.name) && jobs.get(job.name) !== job) {
        throw new EscapementError('job_invalid', {
          message: `job "${job.name}": there is one of that name already; names are unique`,
          details: { name: job.name },
        })
      }
      jobs.set(job.name, job)
    },
    get: (name) => jobs.get(name),
    all: () => [...jobs.values()],
  }
}

/** Null for whoever is not to know which there are. */
export function unknownJob(name: string, known: readonly string[] | null): EscapementError {
  const list = known?.length === 0 ? ' No worker has published any job yet.' : ` Known: ${known?.join(', ')}.`
  return new EscapementError('unknown_job', {
    message: `job: there is no job "${name}"${didYouMean(name, known ?? [])}.${known ? list : ''}`,
    details: { name },
  })
}
