import { defineJob, type Job } from '../runs/job.js'
import { joinReports, type SweepReport } from '../transitions/change.js'
import type { Sweeper } from './sweeper.js'

export const SWEEP_JOB = 'escapement.sweep'

/** The built-in job, for those who want sweeps at times of their own instead of a sweeper that is always there. */
export function sweepJob(sweeper: Pick<Sweeper, 'sweep'>): Job<unknown> {
  return defineJob(SWEEP_JOB, {
    async handler({ signal, totals }) {
      const reports: SweepReport[] = []
      do {
        const report = await sweeper.sweep()
        reports.push(report)
        totals({ updated: report.updated, deleted: report.deleted, errors: report.errors.length })
      } while (reports.at(-1)!.truncated && !signal.aborted)
      const { tables: _, errors: __, ...counts } = joinReports(reports)
      return counts
    },
  })
}
