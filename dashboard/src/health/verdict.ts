import type { Queue, Stats, Worker } from '../api/client.ts'
import type { Tone } from '../parts/badge.tsx'
import { span } from '../time/relative.ts'

export interface Verdict {
  word: 'On time' | 'Late' | 'Broken' | 'Paused' | 'Stuck' | 'Unknown'
  tone: Tone
  /** Why, in one sentence. */
  reason: string
}

/** When the server does not say how things are: what it said last may be long over. */
export const UNKNOWN: Verdict = {
  word: 'Unknown',
  tone: 'warn',
  reason: 'The server does not say how things are: what is shown may be old.',
}

/** Runs that start later than this after they could have are late. */
const LATE_MS = 10_000
const STUCK_MS = 60_000

/** How things are, by the worst that is true: what stops everything first. */
export function verdictOf(
  stats: Stats,
  queues: readonly Queue[],
  workers: readonly Worker[],
  now: Date,
): Verdict {
  const waitedMs = longestWaitMs(queues, now)
  const isUnattended = waitedMs > LATE_MS && !workers.some(({ state }) => state === 'alive')
  if (stats.overdue.schedules > 0) {
    const since =
      stats.overdue.since === null ? '' : ` for ${span(now.getTime() - Date.parse(stats.overdue.since))}`
    return stuck(`No scheduler has looked at ${counted(stats.overdue.schedules, 'due schedule')}${since}.`)
  }
  if (stats.claiming.paused) {
    return { word: 'Paused', tone: 'warn', reason: 'Claiming is paused: no run is begun.' }
  }
  if (isUnattended) return stuck(`No worker is alive, and runs have waited for ${span(waitedMs)}.`)
  if (waitedMs > STUCK_MS * 10) return stuck(`A run has waited to be claimed for ${span(waitedMs)}.`)
  if (stats.schedules.broken > 0) {
    const [were, they] = stats.schedules.broken === 1 ? ['was', 'it is'] : ['were', 'they are']
    return {
      word: 'Broken',
      tone: 'bad',
      reason: `${counted(stats.schedules.broken, 'schedule')} ${were} taken out after repeated failure, and will not run until ${they} resumed.`,
    }
  }
  if (waitedMs > LATE_MS) return late(`A run has waited to be claimed for ${span(waitedMs)}.`)
  const { lateness } = stats
  if (lateness !== null && lateness.p95 > LATE_MS) {
    return late(
      `One in twenty of the last ${counted(lateness.runs, 'run')} started ${span(lateness.p95)} late or later.`,
    )
  }
  const reason =
    lateness === null
      ? 'Nothing is overdue.'
      : `Nothing is overdue, and 95 % of the last runs started within ${span(Math.max(1, lateness.p95))}.`
  return { word: 'On time', tone: 'good', reason }
}

const stuck = (reason: string): Verdict => ({ word: 'Stuck', tone: 'bad', reason })
const late = (reason: string): Verdict => ({ word: 'Late', tone: 'warn', reason })

function longestWaitMs(queues: readonly Queue[], now: Date): number {
  const since = queues.flatMap(({ oldestReadyAt }) =>
    oldestReadyAt === null ? [] : [Date.parse(oldestReadyAt)],
  )
  return since.length === 0 ? 0 : now.getTime() - Math.min(...since)
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
