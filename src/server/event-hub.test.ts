import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { EventSourceReader } from '../../test/support/event-source.js'
import type { AnyEvent, EventMap, EventName, MissedEvents } from '../events/bus.js'
import { createEventHub, type EventHub, type EventHubOptions } from './event-hub.js'
import { type StreamOptions, streamEvents } from './event-stream.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const SCHEDULE = '0190a1b2-0000-7000-8000-000000000001'
const OTHER = '0190a1b2-0000-7000-8000-000000000002'

/** A hub, and what it hears. */
function openHub(options: EventHubOptions = {}) {
  const listeners = new Set<{ hear(told: AnyEvent): unknown; miss(missed: MissedEvents): unknown }>()
  const groups = new Map<string, string | null>([
    [SCHEDULE, 'acme'],
    [OTHER, null],
  ])
  const asked: (readonly string[])[] = []
  const source = {
    async onAny(hear: (told: AnyEvent) => unknown, miss: (missed: MissedEvents) => unknown = () => {}) {
      const listener = { hear, miss }
      listeners.add(listener)
      return async () => void listeners.delete(listener)
    },
    async groupsOf(ids: readonly string[]) {
      asked.push(ids)
      return new Map(ids.flatMap((id) => (groups.has(id) ? [[id, groups.get(id) ?? null] as const] : [])))
    },
  }
  const hub = createEventHub(source, options)
  const tell = <Name extends EventName>(name: Name, event: EventMap[Name]) => {
    for (const { hear } of listeners) hear({ name, event, isLocal: true } as AnyEvent)
  }
  const miss = (missed: MissedEvents) => {
    for (const listener of listeners) listener.miss(missed)
  }
  return { hub, listeners, groups, asked, tell, miss, source }
}

/** A reader that has read its greeting. */
async function read(hub: EventHub, options: StreamOptions = {}) {
  const reader = new EventSourceReader(await streamEvents(hub, options))
  return { reader, greeting: (await reader.next())! }
}

const gather = () => vi.advanceTimersByTimeAsync(50)
const paused = (reason: string) => ['claiming.paused', { reason, by: null }] as const
const changed = (scheduleId: string) =>
  ['schedule.changed', { scheduleId, schedule: 's', version: 1 }] as const
const sequenceOf = (id: string | undefined) => Number(id!.split('-')[1])

describe('a stream', () => {
  it('begins with how long to wait before coming back, and where it stands', async () => {
    const { hub } = openHub()
    const response = await streamEvents(hub, {})
    expect(Object.fromEntries(response.headers)).toEqual({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    const bytes = await new EventSourceReader(response).chunk()
    expect(Buffer.from(bytes!).toString()).toMatch(/^retry: 2000\nid: [0-9a-f]{12}-0\n\n$/)
  })

  it('has each event with its id, its name and its JSON, dates as ISO, gathered for a moment', async () => {
    const { hub, tell } = openHub()
    const { reader, greeting } = await read(hub)
    const run = { runId: 'r', job: 'j', scheduleId: null, schedule: 'Grüße\n', scope: null, attempt: 1 }
    const planTime = new Date('2026-03-01T12:00:00Z')
    tell('run.succeeded', { ...run, planTime, durationMs: 3, error: null })
    tell(...paused('lunch'))
    await gather()
    const instance = greeting.id!.split('-')[0]
    const [first, second] = Buffer.from((await reader.chunk())!)
      .toString()
      .split('\n\n')
    expect(first).toBe(
      `id: ${instance}-1\nevent: run.succeeded\ndata: {"runId":"r","job":"j","scheduleId":null,"schedule":"Grüße\\n",` +
        `"scope":null,"attempt":1,"planTime":"2026-03-01T12:00:00.000Z","durationMs":3,"error":null}`,
    )
    expect(second).toBe(`id: ${instance}-2\nevent: claiming.paused\ndata: {"reason":"lunch","by":null}`)
  })

  it('shows that it is alive when there is nothing to tell, with the id up to which it has told', async () => {
    const { hub, tell } = openHub({ heartbeat: '20s' })
    const { reader } = await read(hub, { names: ['run.failed'] })
    const chunk = reader.chunk()
    tell(...paused('nothing for it'))
    await vi.advanceTimersByTimeAsync(19_999)
    tell(...paused('nor this'))
    await vi.advanceTimersByTimeAsync(1)
    expect(Buffer.from((await chunk)!).toString()).toMatch(/^: \nid: [0-9a-f]+-1\n\n$/)
  })

  it('ends with the request', async () => {
    const { hub } = openHub({ readers: 1 })
    const request = new AbortController()
    const { reader } = await read(hub, { signal: request.signal })
    expect(hub.isFull).toBe(true)
    request.abort()
    expect(await reader.next()).toBeUndefined()
    expect(hub.isFull).toBe(false)
  })

  it('takes no place until somebody reads it, and leaves its place when it is cancelled', async () => {
    const { hub } = openHub({ readers: 1 })
    const response = await streamEvents(hub, {})
    expect(hub.isFull).toBe(false)
    const reader = new EventSourceReader(response)
    await reader.next()
    expect(hub.isFull).toBe(true)
    await reader.cancel()
    expect(hub.isFull).toBe(false)
  })

  it('is over at once for one reader too many', async () => {
    const { hub } = openHub({ readers: 1 })
    await read(hub)
    expect(await new EventSourceReader(await streamEvents(hub, {})).next()).toBeUndefined()
  })

  it('ends when the hub is closed, whether or not it is read, and none begins after that', async () => {
    const { hub, tell, listeners } = openHub()
    const [one, two] = [await read(hub), await read(hub)]
    tell(...paused('lunch'))
    await gather()
    const closed = hub.close()
    expect(await one.reader.next()).toBeUndefined()
    expect(await two.reader.next()).toBeUndefined()
    await closed
    expect(listeners.size).toBe(0)
    await expect(streamEvents(hub, {})).rejects.toMatchObject({ code: 'closed' })
  })
})

describe('a reader that comes back', () => {
  it('goes on after the event that it saw last, also in the middle of a batch', async () => {
    const { hub, tell } = openHub()
    const first = await read(hub)
    for (const reason of ['a', 'b', 'c']) tell(...paused(reason))
    await gather()
    tell(...paused('d'))
    await gather()
    const { id } = await first.reader.named('claiming.paused')
    await first.reader.cancel()

    const { reader, greeting } = await read(hub, { lastEventId: id! })
    expect(greeting).toEqual({ id, name: undefined, data: undefined })
    const seen = [await reader.next(), await reader.next(), await reader.next()]
    expect(seen.map((event) => event!.data!.reason)).toEqual(['b', 'c', 'd'])
    expect(seen.map((event) => sequenceOf(event!.id))).toEqual([2, 3, 4])
  })

  it.each([
    ['rubbish', 'rubbish'],
    ['nothing', ''],
    ['an id of another instance', '00112233aabb-1'],
    ['an id that is still to come', 'last+1'],
    ['an id that is too old', 'first'],
  ])('with %s is told so first, and goes on with what comes next', async (_, given) => {
    const { hub, tell } = openHub({ keptEvents: 2 })
    const { greeting } = await read(hub)
    for (const reason of ['a', 'b', 'c', 'd']) {
      tell(...paused(reason))
      await gather()
    }
    const lastEventId = given
      .replace('last+1', greeting.id!.replace('-0', '-5'))
      .replace('first', greeting.id!)
    const again = await read(hub, { lastEventId })
    expect(again.greeting).toMatchObject({ name: 'resync', data: { reason: 'unknown_id' } })
    expect(sequenceOf(again.greeting.id)).toBe(4)
    tell(...paused('e'))
    await gather()
    expect(await again.reader.next()).toMatchObject({ data: { reason: 'e' } })
  })

  it('finds its events for a minute after the last reader left, and a resync after that', async () => {
    const { hub, listeners, tell } = openHub()
    const { reader, greeting } = await read(hub)
    await reader.cancel()
    tell(...paused('meanwhile'))
    await vi.advanceTimersByTimeAsync(59_000)
    const soon = await read(hub, { lastEventId: greeting.id! })
    expect(await soon.reader.next()).toMatchObject({ data: { reason: 'meanwhile' } })
    await soon.reader.cancel()
    await vi.advanceTimersByTimeAsync(59_999)
    expect(listeners.size).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(listeners.size).toBe(0)
    const late = await read(hub, { lastEventId: greeting.id! })
    expect(late.greeting).toMatchObject({ name: 'resync' })
    expect(listeners.size).toBe(1)
  })

  it('is not the reason that events are heard twice', async () => {
    const { hub, listeners } = openHub()
    expect(listeners.size).toBe(0)
    await Promise.all(Array.from({ length: 5 }, () => read(hub)))
    expect(listeners.size).toBe(1)
  })
})

describe('events that are missing', () => {
  const dropped = (name: EventName) => ({ reason: 'dropped', dropped: { [name]: 5 } }) as MissedEvents

  it('elsewhere are told as a resync after the events, at most once a second', async () => {
    const { hub, tell, miss } = openHub()
    const { reader } = await read(hub)
    miss(dropped('run.created'))
    tell(...paused('a'))
    await gather()
    expect((await reader.next())!.name).toBe('claiming.paused')
    expect(await reader.next()).toMatchObject({ name: 'resync', data: { reason: 'dropped' } })
    for (let n = 0; n < 9; n++) {
      miss(dropped('run.created'))
      tell(...paused('b'))
      await vi.advanceTimersByTimeAsync(100)
    }
    await vi.advanceTimersByTimeAsync(100)
    const names = (await reader.untilNamed('resync')).map(({ name }) => name)
    expect(names).toEqual([...Array(9).fill('claiming.paused'), 'resync'])
  })

  it('because the connection was lost are told as well', async () => {
    const { hub, miss } = openHub()
    const { reader } = await read(hub, { names: ['run.failed'] })
    miss({ reason: 'disconnected', dropped: {} })
    await gather()
    expect(await reader.next()).toMatchObject({ name: 'resync', data: { reason: 'disconnected' } })
  })

  it('are told to a reader that was away', async () => {
    const { hub, miss } = openHub()
    const { reader, greeting } = await read(hub)
    await reader.cancel()
    miss(dropped('run.created'))
    await gather()
    const again = await read(hub, { lastEventId: greeting.id! })
    expect(await again.reader.next()).toMatchObject({ name: 'resync', data: { reason: 'dropped' } })
  })

  it('are nothing to a reader that does not want them', async () => {
    const { hub, tell, miss } = openHub()
    const { reader } = await read(hub, { names: ['run.failed', 'claiming.paused'] })
    miss(dropped('run.created'))
    await gather()
    tell(...paused('a'))
    await gather()
    expect((await reader.next())!.name).toBe('claiming.paused')
  })

  it('in a flood of this process are told too, and what is rare comes through', async () => {
    const { hub, tell } = openHub()
    const { reader } = await read(hub)
    for (let n = 0; n < 100_000; n++)
      tell('run.progress', { runId: `run ${n}`, scheduleId: null, fraction: 0.5, note: null })
    tell(...paused('rare'))
    await gather()
    const seen = await reader.untilNamed('resync')
    expect(seen.length).toBeLessThan(1_000)
    expect(seen.at(-2)).toMatchObject({ data: { reason: 'rare' } })
    expect(new Set(seen.slice(0, -2).map(({ name }) => name))).toEqual(new Set(['run.progress']))
  })
})

describe('a slow reader', () => {
  it('is ended when what it is to be given next is gone, and costs the others nothing', async () => {
    const { hub, tell } = openHub({ keptBytes: 100_000 })
    const { reader: slow } = await read(hub)
    const { reader: quick } = await read(hub)
    const seen: number[] = []
    for (let n = 0; n < 200; n++) {
      tell(...paused('x'.repeat(1_000)))
      await gather()
      seen.push(sequenceOf((await quick.next())!.id))
    }
    expect(seen).toEqual(Array.from({ length: 200 }, (_, n) => n + 1))
    // Nothing of what it has missed was kept for it.
    expect(await slow.next()).toBeUndefined()
    const back = await read(hub, { lastEventId: `${(await read(hub)).greeting.id!.split('-')[0]}-0` })
    expect(back.greeting.name).toBe('resync')
  })

  it('that keeps up with the ring is given all of it', async () => {
    const { hub, tell } = openHub({ keptBytes: 100_000 })
    const { reader } = await read(hub)
    for (let n = 0; n < 80; n++) {
      tell(...paused('x'.repeat(1_000)))
      await gather()
    }
    for (let n = 1; n <= 80; n++) expect(sequenceOf((await reader.next())!.id)).toBe(n)
  })

  it('shares what is sent with all that want the same', async () => {
    const { hub, tell } = openHub()
    const all = await Promise.all([read(hub), read(hub)])
    const some = await Promise.all([
      read(hub, { names: ['claiming.paused', 'run.failed'] }),
      read(hub, { names: ['run.failed', 'claiming.paused'] }),
    ])
    tell(...paused('a'))
    await gather()
    const [one, two] = await Promise.all(all.map(({ reader }) => reader.chunk()))
    expect(one).toBe(two)
    const [three, four] = await Promise.all(some.map(({ reader }) => reader.chunk()))
    expect(three).toBe(four)
    expect(three).toEqual(one)
  })
})

describe('a reader of a group', () => {
  it('is given what concerns its schedules, asked for in one statement for those that are not known', async () => {
    const { hub, tell, asked } = openHub()
    const { reader } = await read(hub, { group: 'acme' })
    tell(...changed(SCHEDULE))
    tell(...changed(OTHER))
    tell(...changed(SCHEDULE))
    tell(...paused('not of a schedule'))
    await gather()
    const seen = [await reader.next(), await reader.next()]
    expect(seen.map((event) => event!.data!.scheduleId)).toEqual([SCHEDULE, SCHEDULE])
    expect(asked).toEqual([[SCHEDULE, OTHER]])

    const run = { runId: 'r', job: 'j', schedule: 's', scope: null, planTime: null, attempt: 1 }
    tell('run.started', { ...run, scheduleId: SCHEDULE, durationMs: null, error: null })
    await gather()
    expect((await reader.next())!.name).toBe('run.started')
    expect(asked).toHaveLength(1)
  })

  it('has its schedules looked up anew when they change, or may have', async () => {
    const { hub, tell, miss, asked, groups } = openHub()
    const { reader } = await read(hub, { group: 'acme' })
    tell(...changed(SCHEDULE))
    await gather()
    await reader.next()
    const rest = reader.untilNamed('resync')
    groups.set(SCHEDULE, 'other')
    tell(...changed(SCHEDULE))
    await gather()
    groups.set(SCHEDULE, 'acme')
    miss({ reason: 'disconnected', dropped: {} })
    tell(...changed(SCHEDULE))
    await gather()
    expect((await rest).map(({ id }) => sequenceOf(id))).toEqual([3, 4])
    expect(asked).toEqual([[SCHEDULE], [SCHEDULE], [SCHEDULE]])
  })

  it('hears of a deleted schedule if its group is known, and of a resync if nobody can say', async () => {
    const { hub, tell, groups } = openHub()
    const { reader } = await read(hub, { group: 'acme' })
    tell(...changed(SCHEDULE))
    await gather()
    await reader.next()
    groups.clear()
    tell('schedule.deleted', { scheduleId: SCHEDULE, schedule: 's', version: 1 })
    await gather()
    expect((await reader.next())!.name).toBe('schedule.deleted')
    tell('schedule.deleted', { scheduleId: SCHEDULE, schedule: 's', version: 1 })
    await gather()
    expect((await reader.next())!.name).toBe('resync')
  })

  it('is told to look when its groups cannot be asked for', async () => {
    const { hub, tell, source } = openHub()
    const failing = createEventHub({ ...source, groupsOf: () => Promise.reject(new Error('away')) })
    const { reader } = await read(failing, { group: 'acme' })
    tell(...changed(SCHEDULE))
    await gather()
    expect((await reader.next())!.name).toBe('resync')
    await hub.close()
  })

  it('is the only one for whom anything is asked', async () => {
    const { hub, tell, asked } = openHub()
    const { reader } = await read(hub)
    tell(...changed(SCHEDULE))
    await gather()
    await reader.next()
    expect(asked).toEqual([])
  })
})

it('refuses options that cannot be', () => {
  const options = { readers: 0, heartbeat: '1ms', keptEvents: 1.5, keptBytes: -1 }
  expect(() => openHub(options)).toThrowError(
    [
      'events.readers: 0 – must be a whole number from 1 on',
      'events.keptEvents: 1.5 – must be a whole number from 1 on',
      'events.keptBytes: -1 – must be a whole number from 1 on',
      'events.heartbeat: "1ms" – must be from 1 second to 1 hour',
    ].join('\n'),
  )
})
