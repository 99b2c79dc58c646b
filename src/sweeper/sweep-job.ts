import { defineJob, type Job } from '../runs/job.js'
import { type SweepReport, sumCounts } from '../transitions/change.js'
import type { Sweeper } from './sweeper.js'

export const SWEEP_JOB = 'escapement.sweep'

/** The built-in job, for those who want sweeps at times of their own instead of a sweeper that is always there. */
export function sweepJob(sweeper: Pick<Sweeper, 'sweep'>): Job<unknown> {
  return defineJob(SWEEP_JOB, {
    async handler({ signal, totals }) {
      const sweeps: SweepReport[] = []
      do {
        const report = await sweeper.sweep()
        sweeps.push(report)
        totals({ updated: report.updated, deleted: report.deleted, errors: report.errors.length })
      } while (sweeps.at(-1)!.truncated && !signal.aborted)
      return { ...sumCounts(sweeps), truncated: sweeps.at(-1)!.truncated }
    },
  })
}
