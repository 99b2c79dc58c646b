import { onTestFinished, vi } from 'vitest'

/** Moves the clock by which durations are measured, until the test ends. No timer fires by that. */
export function movableClock(): (ms: number) => void {
  const { now } = performance
  let aheadMs = 0
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + aheadMs)
  onTestFinished(() => void spy.mockRestore())
  return (ms) => {
    aheadMs += ms
  }
}
