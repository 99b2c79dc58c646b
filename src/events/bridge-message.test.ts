import { expect, it } from 'vitest'
import { ROOM_FOR_EVENTS, readMessage, writeEvent, writeMessage } from './bridge-message.js'
import { type AnyEvent, EVENT_NAMES, type RunEvent } from './bus.js'

const run: RunEvent = {
  runId: '0190a1b2-0000-7000-8000-000000000000',
  job: 'Grüße 👋',
  scheduleId: null,
  schedule: null,
  scope: 'global',
  planTime: new Date('2026-03-01T12:00:00Z'),
  attempt: 1,
  durationMs: 1.5,
  error: null,
}
const local = (told: Omit<AnyEvent, 'isLocal'>) => ({ ...told, isLocal: true }) as AnyEvent
const events: AnyEvent[] = [
  local({ name: 'run.succeeded', event: run }),
  local({ name: 'claiming.paused', event: { reason: null, by: null } }),
  local({
    name: 'transition.applied',
    event: {
      table: 'posts',
      key: { id: 1 },
      field: 'publish_at',
      action: 'set',
      column: 'status',
      from: 'draft',
      to: 'published',
      dueAt: new Date('2026-03-01T12:00:00Z'),
      appliedAt: new Date('2026-03-01T12:00:01Z'),
    },
  }),
]

it('is read as it was written, dates as dates, and as from elsewhere', () => {
  const dropped = { 'run.started': 3 } as const
  const text = writeMessage({ origin: 'me', dropped, events: events.map((told) => writeEvent(told).text) })
  expect(readMessage(text)).toEqual({
    origin: 'me',
    dropped,
    events: events.map((told) => ({ ...told, isLocal: false })),
  })
})

it('is never longer than PostgreSQL takes, counted in bytes', () => {
  const dropped = Object.fromEntries(EVENT_NAMES.map((name) => [name, 9_999_999_999]))
  const texts: string[] = []
  for (let bytes = 0; ; ) {
    const written = writeEvent(events[0]!)
    bytes += written.bytes
    if (bytes > ROOM_FOR_EVENTS) break
    texts.push(written.text)
  }
  const message = writeMessage({ origin: 'A'.repeat(11), dropped, events: texts })
  expect(texts.length).toBeGreaterThan(25)
  expect(Buffer.byteLength(message)).toBeGreaterThan(message.length)
  expect(Buffer.byteLength(message)).toBeLessThan(7_900)
})

it.each([
  { name: 'run.failed', event: { ...run, error: { code: 'handler_error', message: '👋'.repeat(2_000) } } },
  {
    name: 'run.progress',
    event: { runId: run.runId, scheduleId: null, fraction: 0.5, note: '\u0001'.repeat(1_000) },
  },
  {
    name: 'schedule.broken',
    event: { scheduleId: run.runId, schedule: 's', version: 1, reason: '€'.repeat(9_000) },
  },
  { name: 'claiming.paused', event: { reason: '\\'.repeat(9_000), by: null } },
] as Omit<AnyEvent, 'isLocal'>[])('has room for $name, whatever its prose', (told) => {
  const { text, bytes } = writeEvent(local(told))
  expect(bytes).toBeLessThan(ROOM_FOR_EVENTS / 2)
  expect(text).toContain('…')
  expect(text.isWellFormed()).toBe(true)
})

it.each([
  '',
  'runs',
  '{}',
  'null',
  '[]',
  '{"origin":1}',
  '{"origin":"x"}',
  '{"origin":"x","dropped":{},"events":[1]}',
])('is not %j', (text) => {
  expect(readMessage(text)).toBeNull()
})

it('leaves out names that a newer version may have', () => {
  const text =
    '{"origin":"x","dropped":{"run.danced":1},"events":[["run.danced",{}],["claiming.resumed",{"by":null}]]}'
  expect(readMessage(text)).toEqual({
    origin: 'x',
    dropped: {},
    events: [{ name: 'claiming.resumed', event: { by: null }, isLocal: false }],
  })
})
