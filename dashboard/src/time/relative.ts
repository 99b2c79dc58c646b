const STEPS = [
  [1_000, 'ms'],
  [60_000, 's'],
  [3_600_000, 'min'],
  [86_400_000, 'h'],
  [Number.POSITIVE_INFINITY, 'd'],
] as const

/** A span in its largest unit, and the next one where that one is small: `45 s`, `3 min`, `1 h 20 min`, `12 d`. */
export function span(ms: number): string {
  const at = STEPS.findIndex(([below]) => ms < below)
  const [, unit] = STEPS[at]!
  if (at === 0) return `${Math.round(ms)} ms`
  const size = STEPS[at - 1]![0]
  const whole = Math.floor(ms / size)
  if (at < 3 || whole >= 10) return `${whole} ${unit}`
  const [lower, lowerUnit] = [STEPS[at - 2]![0], STEPS[at - 1]![1]]
  const rest = Math.floor((ms - whole * size) / lower)
  return rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${lowerUnit}`
}

/** How far away an instant is: `in 3 min`, `2 h ago`, `now`. */
export function relative(at: Date, now: Date): string {
  const ms = at.getTime() - now.getTime()
  if (Math.abs(ms) < 1_000) return 'now'
  return ms > 0 ? `in ${span(ms)}` : `${span(-ms)} ago`
}
