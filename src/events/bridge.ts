import { randomBytes } from 'node:crypto'
import type { Logger } from '../logger.js'
import type { Store } from '../store/store.js'
import { readMessage } from './bridge-message.js'
import { createBridgeSender } from './bridge-sender.js'
import type { AnyListener, EventBus } from './bus.js'

/**
 * Events across processes, over notifications of PostgreSQL.
 *
 * What a process does is gathered for a tenth of a second and sent as one message, which is small: of a flood it holds the
 * first few dozen events and how many were dropped, by name. It is sent only if somebody listens, which the statement that
 * sends it finds out: a message wakes every listening session of the database, and with a hundred processes that all have
 * something to tell that is more than a core.
 *
 * Messages may be lost, as all notifications. Nothing depends on them; those who listen are told when they may have missed
 * something. A message names the process that it came from, which does not hear itself, and nobody sends on what it heard.
 */
export interface Bridge {
  /**
   * Hears what this process does and, as far as it is told, what the others do. Resolves once they are heard, or will be as
   * soon as there is a connection; the answer ends it.
   */
  onAny(listener: AnyListener): Promise<() => Promise<void>>
  /** Sends what is left, and hears nothing more. */
  close(): Promise<void>
}

export function createBridge(store: Store, bus: EventBus, logger: Logger): Bridge {
  // The embedded database has no other processes.
  if (store.database.kind === 'pglite') return aloneOn(bus)

  const origin = randomBytes(8).toString('base64url')
  const sender = createBridgeSender(store, logger, origin)
  bus.attach(sender)

  function receive(payload: string): void {
    // What a connection says that was lost and is back.
    if (payload === '') bus.miss({ reason: 'disconnected', dropped: {} })
    const message = readMessage(payload)
    if (message === null || message.origin === origin) return
    for (const told of message.events) bus.relay(told)
    const { dropped } = message
    if (Object.keys(dropped).length > 0) bus.miss({ reason: 'dropped', dropped })
  }

  let listeners = 0
  let isDeafnessTold = false
  let listening: Promise<() => Promise<void>> | undefined

  async function leave(): Promise<void> {
    listeners -= 1
    if (listeners > 0) return
    const stop = listening
    listening = undefined
    await (await stop?.catch(() => undefined))?.()
  }

  return {
    async onAny(listener) {
      const stop = bus.onAny(listener)
      let left: Promise<void> | undefined
      const end = () => {
        stop()
        left ??= leave()
        return left
      }
      listeners += 1
      if (!store.database.canListen && !isDeafnessTold) {
        isDeafnessTold = true
        logger.info({}, 'events of other processes are not heard: these connections cannot listen')
      }
      listening ??= store.database.listen(store.eventsChannel, receive)
      try {
        await listening
      } catch (error) {
        await end()
        throw error
      }
      return end
    },
    async close() {
      await sender.close()
      await (await listening?.catch(() => undefined))?.()
    },
  }
}

function aloneOn(bus: EventBus): Bridge {
  return {
    async onAny(listener) {
      const stop = bus.onAny(listener)
      return async () => stop()
    },
    close: async () => {},
  }
}
