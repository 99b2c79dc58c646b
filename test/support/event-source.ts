/** One event of a stream, as a client sees it. A heartbeat, or the beginning of a stream, has neither a name nor data. */
export interface ServerSentEvent {
  id: string | undefined
  name: string | undefined
  data: Record<string, unknown> | undefined
}

/** Takes text apart as it comes, wherever it was cut. */
function createEventParser(): (text: string) => ServerSentEvent[] {
  let rest = ''
  return (text) => {
    const blocks = (rest + text).split('\n\n')
    rest = blocks.pop()!
    return blocks.map((block) => {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
      const data = field('data')
      return {
        id: field('id'),
        name: field('event'),
        data: data === undefined ? undefined : JSON.parse(data),
      }
    })
  }
}

/** Reads a response of events one by one. */
export class EventSourceReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #parse = createEventParser()
  readonly #decoder = new TextDecoder()
  readonly #waiting: ServerSentEvent[] = []

  constructor(response: Response) {
    this.#reader = response.body!.getReader()
  }

  /** The next event, heartbeats and all; undefined when the stream is over. */
  async next(): Promise<ServerSentEvent | undefined> {
    while (this.#waiting.length === 0) {
      const bytes = await this.chunk()
      if (bytes === undefined) return undefined
      this.#waiting.push(...this.#parse(this.#decoder.decode(bytes, { stream: true })))
    }
    return this.#waiting.shift()
  }

  /** The first one to come that has one of these names. */
  async named(...names: string[]): Promise<ServerSentEvent> {
    for (;;) {
      const event = await this.next()
      if (event === undefined) throw new Error(`The stream ended without ${names.join(' or ')}.`)
      if (event.name !== undefined && names.includes(event.name)) return event
    }
  }

  /** The names of what has come so far, up to the next one that matches. */
  async untilNamed(name: string): Promise<ServerSentEvent[]> {
    const seen: ServerSentEvent[] = []
    for (;;) {
      const event = await this.next()
      if (event === undefined) throw new Error(`The stream ended without ${name}.`)
      if (event.name !== undefined) seen.push(event)
      if (event.name === name) return seen
    }
  }

  /** What is sent next, as it is; undefined when the stream is over. */
  async chunk(): Promise<Uint8Array | undefined> {
    return (await this.#reader.read()).value
  }

  cancel(): Promise<void> {
    return this.#reader.cancel()
  }
}
