import http from 'node:http'

/** Follows a stream of events over a socket of its own, as a browser does: when it ends it comes back with the last id. */
export class EventClient {
  /** How often the stream ended and was begun again. */
  reconnects = 0
  readonly #url: string
  readonly #hear: (name: string, data: string, id: string) => void
  #lastId = ''
  #retryMs = 2_000
  #request: http.ClientRequest | undefined
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(url: string, hear: (name: string, data: string, id: string) => void) {
    this.#url = url
    this.#hear = hear
  }

  /** Resolves once the stream has begun. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      const headers = this.#lastId === '' ? {} : { 'last-event-id': this.#lastId }
      this.#request = http.get(this.#url, { agent: false, headers }, (response) => {
        if (response.statusCode !== 200) return reject(new Error(`answered with ${response.statusCode}`))
        let rest = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          rest += chunk
          for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n')) {
            this.#read(rest.slice(0, end))
            rest = rest.slice(end + 2)
          }
          resolve()
        })
        response.on('close', () => this.#comeBack())
      })
      this.#request.on('error', (error) => {
        this.#comeBack()
        reject(error)
      })
    })
  }

  #read(block: string): void {
    let name = ''
    let data = ''
    for (const line of block.split('\n')) {
      if (line.startsWith('id: ')) this.#lastId = line.slice(4)
      else if (line.startsWith('event: ')) name = line.slice(7)
      else if (line.startsWith('data: ')) data = line.slice(6)
      else if (line.startsWith('retry: ')) this.#retryMs = Number(line.slice(7))
    }
    if (data !== '') this.#hear(name, data, this.#lastId)
  }

  #comeBack(): void {
    if (this.#isStopped) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.reconnects += 1
      this.start().catch(() => {})
    }, this.#retryMs)
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#request?.destroy()
  }
}
