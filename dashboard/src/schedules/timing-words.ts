import { describe } from '../../../src/time/describe.js'
import type { Schedule } from '../api/client.ts'

const known = new Map<string, string>()
const MOST = 2_000

/** In words, as the command line says it. The same timing, of many schedules and at every renewal, is described once. */
export function timingInWords(timing: Schedule['timing']): string {
  const key = JSON.stringify(timing)
  const words = known.get(key) ?? describeSafely(timing)
  if (known.size >= MOST) known.clear()
  known.set(key, words)
  return words
}

/** A zone that the server knows may be too new for the browser. */
function describeSafely(timing: Schedule['timing']): string {
  try {
    return describe(timing)
  } catch {
    return timing.kind === 'cron' ? timing.expression : timing.kind
  }
}

export function zoneOf(timing: Schedule['timing']): string | undefined {
  return 'zone' in timing ? timing.zone : undefined
}
