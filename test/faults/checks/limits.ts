import { at, type Report, SLACK_MS } from './finding.js'
import type { Ledger } from './ledger.js'
import type { Witnesses } from './witnesses.js'

export const LIMITED_JOB = 'few'
/** As the processes say it. */
const PLACES = 2

/** Of a job with a limit no handler begins while so many others have a lease, whichever process they are in. */
export function checkLimits({ lines }: Witnesses, { runs, attempts }: Ledger, report: Report): number {
  const ends = new Map(attempts.map(({ run, number, finishedAt }) => [`${run} ${number}`, finishedAt]))
  for (const { id, attempt, finishedAt } of runs) {
    if (finishedAt !== null && !ends.has(`${id} ${attempt}`)) ends.set(`${id} ${attempt}`, finishedAt)
  }
  const inOrder = lines
    .filter(({ what, job, database }) => what === 'start' && job === LIMITED_JOB && database !== null)
    .map(({ run, attempt, database }) => ({
      run,
      start: database!,
      end: ends.get(`${run} ${attempt}`) ?? Number.POSITIVE_INFINITY,
    }))
    // A handler that was about to begin when its lease was lost begins, and is told that it is over.
    .filter(({ start, end }) => start < end)
    .sort((a, b) => a.start - b.start)
  let atWork: typeof inOrder = []
  for (const one of inOrder) {
    atWork = atWork.filter(({ end }) => end > one.start + SLACK_MS)
    if (atWork.length >= PLACES)
      report(
        'overlap',
        one.run,
        `a run of ${LIMITED_JOB} began at ${at(one.start)}, beside ${atWork.map(({ run }) => run).join(' and ')}`,
      )
    atWork.push(one)
  }
  return inOrder.length
}
