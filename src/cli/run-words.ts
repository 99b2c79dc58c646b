import type { Result } from '../http-client/index.js'
import { colours } from './colours.js'

export type RunState = Result<'getRun'>['run']['state']

export function paintedState(state: RunState): string {
  switch (state) {
    case 'succeeded':
      return colours.green(state)
    case 'failed':
      return colours.red(state)
    case 'retrying':
      return colours.yellow(state)
    case 'running':
      return colours.cyan(state)
    default:
      return state
  }
}

/** `240 ms`, `3.2 s`, `4 min 10 s`. */
export function took(from: string | null, to: string | null): string | null {
  if (from === null || to === null) return null
  const ms = Date.parse(to) - Date.parse(from)
  if (ms < 1_000) return `${ms} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`
}
