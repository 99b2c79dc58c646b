import { count } from '../../../time/format.ts'

/** Where things are in a chart that is as many units wide as it has points, and `HEIGHT` high. */
export const HEIGHT = 100

/** A label on an axis, and how far along the axis it is, from 0 to 1. */
export interface Tick {
  place: number
  label: string
}

/** A round number that is not below: the top of an axis that is easily halved. */
export function roundUp(most: number): number {
  if (most <= 2) return Math.max(1, most)
  const power = 10 ** Math.floor(Math.log10(most))
  const factor = [1, 2, 4, 6, 8, 10].find((step) => step * power >= most)!
  return factor * power
}

/** Labels of an axis of counts: at its ends, and in the middle where that is a whole number. */
export function countTicks(top: number): Tick[] {
  const places = top % 2 === 0 ? [0, 0.5, 1] : [0, 1]
  return places.map((place) => ({ place, label: count(place * top) }))
}

/** The ends of a stack of bars, from below; what is not nothing is at least so high that it can be seen. */
export function stackOf(values: readonly number[], top: number): { y: number; height: number }[] {
  const least = 2
  let y = HEIGHT
  return values.map((value) => {
    const height = value === 0 ? 0 : Math.max(least, (value / top) * HEIGHT)
    y = Math.max(0, y - height)
    return { y, height }
  })
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const STEPS_MS = [
  1,
  10,
  100,
  SECOND,
  10 * SECOND,
  MINUTE,
  10 * MINUTE,
  HOUR,
  10 * HOUR,
  100 * HOUR,
  1_000 * HOUR,
]

/** The steps of an axis of durations that reaches at least so far: each is about ten times the one before. */
export function stepsUpTo(mostMs: number): number[] {
  const last = STEPS_MS.findIndex((step) => step >= mostMs)
  return STEPS_MS.slice(0, Math.max(1, last === -1 ? STEPS_MS.length - 1 : last) + 1)
}

/** How high a duration is between such steps, from 0 to 1; each step is as high as any other. */
export function heightOf(ms: number, steps: readonly number[]): number {
  const above = steps.findIndex((step) => step >= ms)
  if (above === 0) return 0
  if (above === -1) return 1
  const [low, high] = [steps[above - 1]!, steps[above]!]
  return (above - 1 + Math.log(ms / low) / Math.log(high / low)) / (steps.length - 1)
}

/** A line through the middles of the points; where one is missing it is broken, and one that stands alone is a dot. */
export function lineOf(heights: readonly (number | null)[]): string {
  const parts: string[] = []
  for (const [index, height] of heights.entries()) {
    if (height === null) continue
    const place = `${index + 0.5} ${rounded(HEIGHT * (1 - height))}`
    const isFirst = index === 0 || heights[index - 1] === null
    const isAlone = isFirst && (heights[index + 1] ?? null) === null
    parts.push(isFirst ? `M${place}` : `L${place}`, ...(isAlone ? ['h0'] : []))
  }
  return parts.join('')
}

const rounded = (value: number) => Math.round(value * 100) / 100
