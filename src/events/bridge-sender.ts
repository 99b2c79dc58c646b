import { AsyncResource } from 'node:async_hooks'
import type { Logger } from '../logger.js'
import { notifyEvents } from '../store/queries/notifying.js'
import type { Store } from '../store/store.js'
import { ROOM_FOR_EVENTS, writeEvent, writeMessage } from './bridge-message.js'
import type { EventName, EventOutlet } from './bus.js'
import { EventWindow } from './event-window.js'

const GATHER_MS = 100
const MAX_BACKOFF_MS = 5_000

/** Sends what this process does to the others: one message for all that happened within a moment. */
export interface BridgeSender extends EventOutlet {
  /** Sends what is left, if the others can be reached. */
  close(): Promise<void>
}

export function createBridgeSender(store: Store, logger: Logger, origin: string): BridgeSender {
  const window = new EventWindow<string>(ROOM_FOR_EVENTS)
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> | undefined
  let backoffMs = 0
  let closed = false

  // Bound to where it was made: what happens inside a transaction may be what starts the timer.
  const send = AsyncResource.bind(async (): Promise<void> => {
    const { entries, dropped } = window.take()
    const events = entries.map(({ entry }) => entry)
    try {
      await notifyEvents(store, writeMessage({ origin, dropped, events }))
      backoffMs = 0
    } catch (error) {
      if (backoffMs === 0) logger.warn({ err: error }, 'other processes are not told of events for now')
      backoffMs = Math.min(backoffMs === 0 ? GATHER_MS : backoffMs * 2, MAX_BACKOFF_MS)
      // Not sent again: it may have arrived before the connection broke, and must not be told twice.
      for (const [name, count] of Object.entries(dropped)) window.drop(name as EventName, count)
      for (const { name } of entries) window.drop(name)
    }
  })

  function sendSoon(): void {
    if (timer || sending || closed || window.isEmpty) return
    timer = setTimeout(() => {
      timer = undefined
      sending = send().finally(() => {
        sending = undefined
        sendSoon()
      })
    }, GATHER_MS + backoffMs)
    // A process that ends by itself still tells what it did; but it does not wait for a database that is away.
    if (backoffMs > 0) timer.unref()
  }

  return {
    admits: (name) => !closed && window.admits(name),
    add(told) {
      const { text, bytes } = writeEvent(told)
      window.add(told.name, text, bytes, told.name === 'run.progress' ? told.event.runId : undefined)
      sendSoon()
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await sending
      if (backoffMs === 0 && !window.isEmpty) await send()
    },
  }
}
