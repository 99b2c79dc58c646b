import { EscapementError } from '../errors.js'
import type { EventMap, EventName } from '../events/bus.js'
import { parsed } from './failures.js'
import type { Transport } from './transport.js'

/** An event as it travels: instants are texts. `resync` says that some were missed: read again what you show. */
export type ServerEvent =
  | { [Name in EventName]: { id: string; name: Name; data: Travelled<EventMap[Name]> } }[EventName]
  | { id: string; name: 'resync'; data: { reason: string } }

type Travelled<T> = T extends Date ? string : T extends object ? { [Key in keyof T]: Travelled<T[Key]> } : T

/** What `events` takes. */
export interface EventsOptions {
  /** Only these. */
  names?: readonly EventName[]
  /** Only what concerns schedules of this group. */
  group?: string
  /** Goes on after the event that has this id. */
  lastEventId?: string
  /** Ends it. */
  signal?: AbortSignal
  /** Is told whether events come: `live` when the server has begun to answer, `reconnecting` when it broke off. */
  onState?: (state: 'live' | 'reconnecting') => void
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 10_000
/** The server says something every fifteen seconds. */
const SILENCE_MS = 45_000

/**
 * Events as they come, through broken connections: it connects again, and goes on where it was. Ends with its signal;
 * throws what would be the same the next time.
 */
export async function* readEvents(transport: Transport, options: EventsOptions): AsyncGenerator<ServerEvent> {
  const { signal, names, group, onState } = options
  const query = {
    ...(names !== undefined && { names: [...names] }),
    ...(group !== undefined && { group }),
  }
  let { lastEventId } = options
  let pauseMs = FIRST_PAUSE_MS
  let state: 'live' | 'reconnecting' | undefined
  const become = (next: 'live' | 'reconnecting') => {
    if (next === state || signal?.aborted) return
    state = next
    onState?.(next)
  }
  while (!signal?.aborted) {
    const alarm = createSilenceAlarm()
    const request = transport.requestOf('streamEvents', { query } as never, {
      signal: signal ? AbortSignal.any([signal, alarm.signal]) : alarm.signal,
      timeoutMs: Number.POSITIVE_INFINITY,
      lastEventId,
    })
    try {
      alarm.restart()
      for await (const { id, event } of readBlocks(transport, request, alarm.restart)) {
        pauseMs = FIRST_PAUSE_MS
        become('live')
        // Also of a greeting and a heartbeat: whoever is cut off before the first event goes on from there.
        if (id !== '') lastEventId = id
        if (event) yield event
      }
    } catch (error) {
      if (!signal?.aborted && !isPassing(error)) throw error
    } finally {
      alarm.stop()
    }
    become('reconnecting')
    await pause(pauseMs, signal)
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
  }
}

/** Whether it may be better the next time: a network that failed, or a server that cannot at the moment. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof EscapementError)) return false
  const { status } = error.details
  return status === undefined ? error.code === 'server_unreachable' : Number(status) >= 500
}

/** Aborts when nothing was heard for too long. */
function createSilenceAlarm() {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const ring = () =>
    controller.abort(
      new EscapementError('server_unreachable', { message: 'The server fell silent, as if it were gone.' }),
    )
  return {
    signal: controller.signal,
    restart() {
      clearTimeout(timer)
      timer = setTimeout(ring, SILENCE_MS)
    },
    stop() {
      clearTimeout(timer)
      controller.abort()
    },
  }
}

interface Block {
  /** Empty where it has none. */
  id: string
  /** Undefined for one that only says that the server is there, and perhaps where we are. */
  event: ServerEvent | undefined
}

async function* readBlocks(
  transport: Transport,
  request: Request,
  onHeard: () => void,
): AsyncGenerator<Block> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of transport.stream(request, 'text/event-stream')) {
    onHeard()
    text += decoder.decode(chunk, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop()!
    for (const block of blocks) yield readBlock(block, transport)
  }
}

function readBlock(block: string, transport: Transport): Block {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const [, name, value] = /^([a-z]+): ?(.*)$/.exec(line) ?? []
    if (name !== undefined) fields.set(name, value!)
  }
  const [id, name, text] = [fields.get('id') ?? '', fields.get('event'), fields.get('data')]
  if (name === undefined || text === undefined) return { id, event: undefined }
  const data = parsed(text)
  if (data === undefined) throw transport.nonsense(200)
  return { id, event: { id, name, data } as ServerEvent }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    // An event that is over already is not told again.
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done)
  })
}
