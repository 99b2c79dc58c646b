import { once } from 'node:events'
import net from 'node:net'

/**
 * Stands between one process and PostgreSQL, and does to its connections what networks do.
 *
 * What was on its way when it went silent is never delivered later: a connection that was silent is reset when it ends, as a host
 * that comes back knows nothing of it.
 */
export interface FaultProxy {
  readonly url: string
  /** Resets every connection; new ones are taken. */
  cut(): void
  /** Passes nothing on, in no direction, until the end: a black hole. */
  silence(): void
  /** Holds each piece back for so long. */
  slow(delayMs: number): void
  /**
   * The next statement that ends a transaction, or with `any` the next one at all, reaches the server; its answer does not come back,
   * and the connection is reset. Resolves when that has happened.
   */
  cutAnswer(of: 'commit' | 'any'): Promise<void>
  /** As a good network again. */
  heal(): void
  close(): Promise<void>
}

interface Link {
  client: net.Socket
  server: net.Socket
  isSilent: boolean
  /** Its next answer is not to arrive. */
  isDoomed: boolean
}

const COMMIT = Buffer.from('commit\0')

export async function openFaultProxy(serverUrl: string): Promise<FaultProxy> {
  const url = new URL(serverUrl)
  const [host, port] = [url.hostname, Number(url.port)]
  const links = new Set<Link>()
  let isSilent = false
  let delayMs = 0
  let trap: { of: 'commit' | 'any'; sprung: () => void } | undefined

  function reset(link: Link): void {
    links.delete(link)
    link.client.resetAndDestroy()
    link.server.resetAndDestroy()
  }

  /** In order: what is written later is never delivered earlier, since the delay only ends with the connections. */
  function pass(link: Link, to: net.Socket, bytes: Buffer): void {
    if (isSilent) link.isSilent = true
    if (link.isSilent) return
    if (delayMs === 0) to.write(bytes)
    else setTimeout(() => !link.isSilent && to.write(bytes), delayMs)
  }

  function onConnection(client: net.Socket): void {
    const server = net.connect(port, host)
    const link: Link = { client, server, isSilent: false, isDoomed: false }
    links.add(link)
    for (const socket of [client, server]) {
      socket.setNoDelay().on('error', () => {})
      socket.on('close', () => {
        // Who is cut off by a silent network does not hear that the other side has gone.
        if (!link.isSilent) reset(link)
      })
    }
    client.on('data', (bytes) => {
      if (trap && (trap.of === 'any' || bytes.includes(COMMIT))) {
        link.isDoomed = true
        trap.sprung()
        trap = undefined
      }
      pass(link, server, bytes)
    })
    server.on('data', (bytes) => (link.isDoomed ? reset(link) : pass(link, client, bytes)))
  }

  const listening = net.createServer(onConnection).listen(0, '127.0.0.1')
  await once(listening, 'listening')
  url.host = `127.0.0.1:${(listening.address() as net.AddressInfo).port}`
  const resetAll = () => {
    for (const link of links) reset(link)
  }
  return {
    url: url.href,
    cut: resetAll,
    silence() {
      isSilent = true
      for (const link of links) link.isSilent = true
    },
    slow(ms) {
      delayMs = ms
    },
    cutAnswer(of) {
      return new Promise((sprung) => {
        trap = { of, sprung }
      })
    },
    heal() {
      // Pieces that are still held back must not be overtaken by those that are not.
      if (isSilent || delayMs > 0) resetAll()
      isSilent = false
      delayMs = 0
      trap?.sprung()
      trap = undefined
    },
    async close() {
      const closed = once(listening, 'close')
      listening.close()
      resetAll()
      await closed
    },
  }
}
