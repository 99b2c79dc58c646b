/** Plan times by arithmetic on seconds alone. Shares no code with `src`. */
import type { Content, Grid } from './cast.js'

/** The instants of a content from `first` to `last`, both inclusive. */
export function planTimesOf(content: Content, first: number, last: number): number[] {
  const { grid, startAt, endAt, limit } = content
  if (grid.kind === 'after') return []
  if (grid.kind === 'once') return grid.at >= first && grid.at <= last ? [grid.at] : []
  const times: number[] = []
  const from = startAt ?? first
  let counted = 0
  for (let at = Math.ceil(from / 1000) * 1000; at <= last; at += 1000) {
    if (!isOnGrid(grid, at)) continue
    counted += 1
    if ((limit !== undefined && counted > limit) || (endAt !== undefined && at >= endAt)) break
    if (at >= first) times.push(at)
  }
  return times
}

/** 2001-01-01T00:00:00Z, in seconds: where intervals are counted from. */
const ANCHOR = 978_307_200
/** 2026-01-01T00:00:00Z, in seconds: where the rules here begin. */
const RULE_BEGINS = 1_767_225_600

function isOnGrid(grid: Exclude<Grid, { kind: 'once' | 'after' }>, at: number): boolean {
  const second = at / 1000
  if (grid.kind === 'every') return (second - ANCHOR) % grid.seconds === 0
  if (grid.kind === 'rrule') return (second - RULE_BEGINS) % grid.seconds === 0
  // Zones that are whole minutes off have the same seconds.
  return (second % 60) % grid.seconds === 0
}
