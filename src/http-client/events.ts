import { EscapementError } from '../errors.js'
import type { EventMap, EventName } from '../events/bus.js'
import type { Transport } from './transport.js'

/** An event as it travels: instants are texts. `resync` says that some were missed: read again what you show. */
export type ServerEvent =
  | { [Name in EventName]: { id: string; name: Name; data: Travelled<EventMap[Name]> } }[EventName]
  | { id: string; name: 'resync'; data: { reason: string } }

type Travelled<T> = T extends Date ? string : T extends object ? { [Key in keyof T]: Travelled<T[Key]> } : T

export interface EventsOptions {
  /** Only these. */
  names?: readonly EventName[]
  /** Goes on after the event that has this id. */
  lastEventId?: string
  signal?: AbortSignal
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 10_000
/** The server says something every fifteen seconds. */
const SILENCE_MS = 45_000

/** Events as they come, through broken connections: it connects again, and goes on where it was. Ends with its signal. */
export async function* readEvents(transport: Transport, options: EventsOptions): AsyncGenerator<ServerEvent> {
  let { lastEventId } = options
  let pauseMs = FIRST_PAUSE_MS
  while (!options.signal?.aborted) {
    try {
      for await (const event of readOnce(transport, options, lastEventId)) {
        pauseMs = FIRST_PAUSE_MS
        if (event.id !== '') lastEventId = event.id
        yield event
      }
    } catch (error) {
      // What a server refuses it will refuse again.
      if (error instanceof EscapementError && error.code !== 'server_unreachable') {
        if (Number(error.details.status) < 500) throw error
      }
    }
    await pause(pauseMs, options.signal)
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
  }
}

async function* readOnce(
  transport: Transport,
  { names, signal }: EventsOptions,
  lastEventId: string | undefined,
): AsyncGenerator<ServerEvent> {
  const silence = new AbortController()
  const restart = () => setTimeout(() => silence.abort(), SILENCE_MS)
  let timer = restart()
  const query = names === undefined ? undefined : { names: [...names] }
  const request = transport.requestOf('streamEvents', { query } as never, {
    signal: signal ? AbortSignal.any([signal, silence.signal]) : silence.signal,
    timeoutMs: LONGEST_TIMER_MS,
  })
  if (lastEventId !== undefined) request.headers.set('last-event-id', lastEventId)
  try {
    const { body } = await transport.open(request)
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
      clearTimeout(timer)
      timer = restart()
      text += decoder.decode(chunk, { stream: true })
      const blocks = text.split('\n\n')
      text = blocks.pop()!
      for (const block of blocks) {
        const event = parseBlock(block)
        if (event) yield event
      }
    }
  } finally {
    clearTimeout(timer)
    silence.abort()
  }
}

const LONGEST_TIMER_MS = 2_147_483_647

/** Undefined for a comment, which only says that the server is there. */
function parseBlock(block: string): ServerEvent | undefined {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const [, name, value] = /^([a-z]+): ?(.*)$/.exec(line) ?? []
    if (name !== undefined) fields.set(name, value!)
  }
  const [name, data] = [fields.get('event'), fields.get('data')]
  if (name === undefined || data === undefined) return undefined
  return { id: fields.get('id') ?? '', name, data: JSON.parse(data) } as ServerEvent
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done)
  })
}
