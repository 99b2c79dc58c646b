import { describe, expect, it } from 'vitest'
import { silentLogger } from '../logger.js'
import { type AnyEvent, createEventBus, type EventName } from './bus.js'

/** A bus that sends to others, who have room or not; and what it asked them. */
function open() {
  const bus = createEventBus(silentLogger)
  const outlet = { hasRoom: true, asked: [] as EventName[], sent: [] as AnyEvent[] }
  bus.attach({
    admits(name) {
      outlet.asked.push(name)
      return outlet.hasRoom
    },
    add: (told) => void outlet.sent.push(told),
  })
  return { bus, outlet }
}

const by = { by: null }

describe('what a process does', () => {
  it('is told to those who listen to it, to those who hear everything, and to others', () => {
    const { bus, outlet } = open()
    const heard: unknown[] = []
    const told = { name: 'claiming.resumed', event: by, isLocal: true }
    bus.on('claiming.resumed', (event) => heard.push(event))
    bus.on('claiming.paused', () => heard.push('another'))
    const stop = bus.onAny({ hear: (any) => heard.push(any) })
    bus.emit('claiming.resumed', by)
    expect(heard).toEqual([by, told])
    expect(outlet.sent).toEqual([told])
    stop()
    bus.emit('claiming.resumed', by)
    expect(heard).toEqual([by, told, by])
  })

  it('need not be built where nobody hears it, and those who have no room count it once', () => {
    const { bus, outlet } = open()
    const tell = () => bus.has('claiming.resumed') && bus.emit('claiming.resumed', by)
    outlet.hasRoom = false
    tell()
    expect(outlet.asked).toHaveLength(1)
    bus.on('claiming.resumed', () => {})
    tell()
    expect(outlet.asked).toHaveLength(2)
    bus.onAny({ hear: () => {} })
    tell()
    expect(outlet.asked).toHaveLength(3)
    expect(outlet.sent).toEqual([])
  })

  it('stays in it where it is of nobody else’s concern', () => {
    const { bus, outlet } = open()
    const heard: unknown[] = []
    bus.onAny({ hear: (any) => heard.push(any) })
    expect(bus.has('worker.leaseLost')).toBe(false)
    bus.emit('worker.leaseLost', { runId: 'r' })
    expect([heard, outlet.asked]).toEqual([[], []])
  })
})

it('what another process did is told to those who hear everything, and not sent on', () => {
  const { bus, outlet } = open()
  const heard: unknown[] = []
  bus.on('claiming.resumed', () => heard.push('on'))
  bus.onAny({ hear: (any) => heard.push(any), missed: (missed) => heard.push(missed) })
  const told = { name: 'claiming.resumed', event: by, isLocal: false } as const
  const missed = { reason: 'dropped', dropped: { 'run.created': 1 } } as const
  bus.relay(told)
  bus.miss(missed)
  expect(heard).toEqual([told, missed])
  expect(outlet.asked).toEqual([])
})
