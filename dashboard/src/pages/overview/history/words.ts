import { clockTime, count } from '../../../time/format.ts'
import { span as duration } from '../../../time/relative.ts'
import { weekdayOf } from '../chart/time-ticks.ts'
import type { Lateness, Point } from './points.ts'
import type { Span } from './spans.ts'

const runs = (number: number) => `${count(number)} ${number === 1 ? 'run' : 'runs'}`

/** When a bar begins: the time of day, with its weekday where the chart has more than an hour. */
export function whenOf({ from }: Point, { name }: Span): string {
  return name === 'hour' ? clockTime(from) : `${weekdayOf(from)} ${clockTime(from)}`
}

export function throughputOf({ succeeded, failed, others }: Point): string {
  const parts = [`${count(succeeded)} succeeded`]
  if (failed > 0) parts.push(`${count(failed)} failed`)
  if (others > 0) parts.push(`${count(others)} cancelled or skipped`)
  return parts.join(', ')
}

export function latenessOf(lateness: Lateness | null): string {
  if (lateness === null) return 'no run started'
  const { p50, p95, p99, max } = lateness
  return `median ${duration(p50)}, 95 % ${duration(p95)}, 99 % ${duration(p99)}, longest ${duration(max)}`
}

/** All bars in a sentence; undefined where nothing ended. */
export function throughputInAll(points: readonly Point[], span: Span): string | undefined {
  const total = points.reduce((sum, { ended }) => sum + ended, 0)
  if (total === 0) return undefined
  const failed = points.reduce((sum, point) => sum + point.failed, 0)
  const most = points.reduce((peak, point) => (point.ended > peak.ended ? point : peak))
  const failures = failed === 0 ? 'none failed' : `${count(failed)} failed`
  return `${runs(total)} ended, ${failures}; at most ${count(most.ended)} in ${span.bucketWords}, at ${whenOf(most, span)}`
}

/** The worst bar in a sentence; undefined where no run started. */
export function latenessInAll(points: readonly Point[], span: Span): string | undefined {
  const late = points.filter(({ lateness }) => lateness !== null)
  if (late.length === 0) return undefined
  const started = late.reduce((sum, { lateness }) => sum + lateness!.runs, 0)
  const worst = late.reduce((peak, point) => (point.lateness!.p99 > peak.lateness!.p99 ? point : peak))
  return `${runs(started)} started, 99 % of them within ${duration(Math.max(1, worst.lateness!.p99))} even at the worst, at ${whenOf(worst, span)}`
}
