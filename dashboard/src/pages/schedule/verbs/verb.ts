import type { Schedule } from '../../../api/client.ts'
import type { Tell } from '../told.tsx'

export interface VerbProps {
  schedule: Schedule
  tell: Tell
}

/** What a verb changes, by the first words of what shows it. */
export const RENEWS = ['schedules', 'runs', 'stats', 'forecast'] as const

/** For `ActionDialog`: tells at the top of the page what was refused. */
export function refusing(tell: Tell, verb: string): (error: Error | null) => void {
  return (error) => tell(error === null ? null : { verb, refused: error })
}

/** The address of one under `/api/v1`. */
export const apiPath = (name: string, verb = '') => `/schedules/${encodeURIComponent(name)}${verb}`
