import { EscapementError } from '../../../errors.js'
import type { HttpClient } from '../../../http-client/index.js'
import type { Schedule } from './standing.js'

/** Undefined where there is none. */
export async function findSchedule({ schedules }: HttpClient, name: string): Promise<Schedule | undefined> {
  try {
    return await schedules.get(name)
  } catch (error) {
    if (error instanceof EscapementError && error.code === 'schedule_not_found') return undefined
    throw error
  }
}
