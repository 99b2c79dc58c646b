import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createPulse } from './pulse.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

describe('a pulse', () => {
  it('is there from begin to end', () => {
    const pulse = createPulse()
    expect(pulse.state()).toBeNull()
    pulse.begin()
    expect(pulse.state()).toEqual({ sincePassMs: 0, silentMs: 0, isWaitingOut: false })
    pulse.end()
    expect(pulse.state()).toBeNull()
  })

  it('is not missed while the loop sleeps, and is from then on', () => {
    const pulse = createPulse()
    pulse.begin()
    pulse.passed(5_000)
    vi.advanceTimersByTime(5_000)
    expect(pulse.state()).toMatchObject({ sincePassMs: 5_000, silentMs: 0 })
    vi.advanceTimersByTime(2_000)
    expect(pulse.state()).toMatchObject({ sincePassMs: 7_000, silentMs: 2_000 })
  })

  it('beats within a pass that takes long, without ending it', () => {
    const pulse = createPulse()
    pulse.begin()
    vi.advanceTimersByTime(60_000)
    pulse.beat()
    expect(pulse.state()).toMatchObject({ sincePassMs: 60_000, silentMs: 0 })
  })

  it('tells an outage until the next whole pass', () => {
    const pulse = createPulse()
    pulse.begin()
    pulse.waitsOut(100)
    pulse.beat()
    expect(pulse.state()).toMatchObject({ isWaitingOut: true })
    pulse.passed(0)
    expect(pulse.state()).toMatchObject({ isWaitingOut: false })
  })
})
