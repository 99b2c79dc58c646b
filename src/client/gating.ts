import { EscapementError } from '../errors.js'
import type { JobRegistry } from '../runs/job-registry.js'
import { listGatedJobs } from '../store/queries/workers.js'
import type { Store } from '../store/store.js'

/** What is about to be enabled. */
export interface Enabled {
  name: string
  job: string
  input: unknown
}

/** Asks the gates of jobs, before any lock: they are the user's code. The first that is closed is thrown. */
export async function expectOpenGates(
  parts: { store: Store; jobs: JobRegistry },
  enabled: readonly Enabled[],
): Promise<void> {
  const [closed] = await closedGates(parts, enabled)
  if (closed) throw closed.error
}

export async function closedGates(
  { store, jobs }: { store: Store; jobs: JobRegistry },
  enabled: readonly Enabled[],
): Promise<{ name: string; error: EscapementError }[]> {
  const foreign = enabled.map(({ job }) => job).filter((job) => jobs.get(job) === undefined)
  const gated = new Set(foreign.length === 0 ? [] : await listGatedJobs(store, foreign))
  const closed: { name: string; error: EscapementError }[] = []
  for (const { name, job, input } of enabled) {
    if (gated.has(job)) closed.push({ name, error: gateUnavailable(name, job) })
    const gate = jobs.get(job)?.gate
    const answer = gate ? await gate({ schedule: name, input: input as never }) : true
    if (answer !== true) closed.push({ name, error: gateClosed(name, job, reasonOf(answer)) })
  }
  return closed
}

/** Whatever a gate answers but true closes it; without a reason too. */
function reasonOf(answer: unknown): string {
  return String((answer as { reason?: unknown } | null | undefined)?.reason ?? 'its gate is closed')
}

function gateClosed(name: string, job: string, reason: string): EscapementError {
  return new EscapementError('gate_closed', {
    message: `"${name}" cannot be enabled: ${reason}`,
    details: { name, job, reason },
  })
}

function gateUnavailable(name: string, job: string): EscapementError {
  return new EscapementError('gate_unavailable', {
    message: `"${name}" cannot be enabled here: the job "${job}" has a gate, and this process does not have its code. Ask a server that has it, with --url.`,
    details: { name, job },
  })
}
