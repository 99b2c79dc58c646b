import type { Hour } from './week.ts'

/** Where the runs of an hour are: what came of its plan times. */
export function runsOf({ from, to }: Hour): string {
  return `/runs?${new URLSearchParams({ from: from.toISOString(), to: to.toISOString() })}`
}
