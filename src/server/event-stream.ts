import type { EventName } from '../events/bus.js'
import type { EventHub } from './event-hub.js'

export interface StreamOptions {
  /** What the client saw last: the header `Last-Event-ID`. */
  lastEventId?: string | undefined
  /** Absent for all. */
  names?: readonly EventName[] | undefined
  /** Only what concerns schedules of this group; absent for everything. */
  group?: string | undefined
  /** Asked now and then: the stream ends when its reader may no longer read. */
  isStillKnown?: (() => Promise<boolean>) | undefined
  /** Ends the stream: that of the request. */
  signal?: AbortSignal | undefined
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // For nginx, which else keeps events until it has enough of them.
  'x-accel-buffering': 'no',
}

/** A response that goes on for as long as the client, and the hub, want it. Resolves once events are heard. */
export async function streamEvents(hub: EventHub, options: StreamOptions): Promise<Response> {
  await hub.open()
  return new Response(eventStream(hub, options), { headers: HEADERS })
}

const KNOWN_FOR_MS = 15_000

function eventStream(hub: EventHub, options: StreamOptions) {
  const { lastEventId, names, group, signal, isStillKnown } = options
  const filter = { names: names ? new Set(names) : null, group: group ?? null }
  let reader: ReturnType<EventHub['join']> | undefined
  const leave = () => reader?.end()
  const source = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      // Not before somebody reads: whoever asks for the headers alone never does.
      reader ??= join(controller)
      const bytes = await reader.next()
      if (bytes) controller.enqueue(bytes)
    },
    cancel: leave,
  }

  function join(controller: ReadableStreamDefaultController<Uint8Array>) {
    const onEnd = () => {
      clearInterval(checking)
      signal?.removeEventListener('abort', leave)
      // At once, whether or not the client takes what it has been given so far. It may have been cancelled already.
      try {
        controller.close()
      } catch {}
    }
    const check = async () => {
      // While the database is away nobody can be told to be unknown.
      if (!(await isStillKnown?.().catch(() => true))) leave()
    }
    const checking = isStillKnown && setInterval(check, KNOWN_FOR_MS).unref()
    const joined = hub.join({ filter, lastEventId, onEnd })
    if (signal?.aborted) joined.end()
    signal?.addEventListener('abort', leave)
    return joined
  }

  // Nothing is fetched ahead: what has not been asked for stays in the ring, once for all.
  return new ReadableStream(source, { highWaterMark: 0 })
}
