import { once } from 'node:events'
import net from 'node:net'
import { createDeafness } from './deafness.js'

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
  /**
   * Calls `act` at the instant at which a statement with this text comes by. Where that answers
   * `lose`, it does not go on, and the connection is reset. Resolves when that has happened, or when there is a good network again.
   */
  atStatement(text: string, act: () => 'pass' | 'lose'): Promise<void>
  /** Passes no notification on any more, and all else. */
  deafen(): void
  undeafen(): void
  /** As a good network again, on which notifications arrive. */
  heal(): void
  close(): Promise<void>
}

interface Link {
  client: net.Socket
  server: net.Socket
  isSilent: boolean
  /** Its next answer is not to arrive. */
  isDoomed: boolean
  /** Takes the notifications out of what the server says. */
  withoutNotifications: ReturnType<typeof createDeafness>
}

interface Trap {
  /** Null for any piece at all. */
  text: Buffer | null
  spring(link: Link): 'pass' | 'lose'
  done(): void
}

/** The text of a COMMIT, with the end of its message. */
export const COMMIT = 'commit\0'

export async function openFaultProxy(serverUrl: string): Promise<FaultProxy> {
  const url = new URL(serverUrl)
  const [host, port] = [url.hostname, Number(url.port)]
  const links = new Set<Link>()
  let isSilent = false
  let isDeaf = false
  let delayMs = 0
  const traps = new Set<Trap>()

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

  function springTraps(link: Link, bytes: Buffer): 'pass' | 'lose' {
    let fate: 'pass' | 'lose' = 'pass'
    for (const trap of traps) {
      if (trap.text !== null && !bytes.includes(trap.text)) continue
      traps.delete(trap)
      if (trap.spring(link) === 'lose') fate = 'lose'
      trap.done()
    }
    return fate
  }

  const setTrap = (text: string | null, spring: Trap['spring']) =>
    new Promise<void>((done) => {
      traps.add({ text: text === null ? null : Buffer.from(text), spring, done })
    })

  function onConnection(client: net.Socket): void {
    const server = net.connect(port, host)
    const link: Link = {
      client,
      server,
      isSilent: false,
      isDoomed: false,
      withoutNotifications: createDeafness(),
    }
    links.add(link)
    for (const socket of [client, server]) {
      socket.setNoDelay().on('error', () => {})
      socket.on('close', () => {
        // Who is cut off by a silent network does not hear that the other side has gone.
        if (!link.isSilent) reset(link)
      })
    }
    client.on('data', (bytes) => {
      if (springTraps(link, bytes) === 'pass') pass(link, server, bytes)
      else reset(link)
    })
    server.on('data', (bytes) => {
      if (link.isDoomed) return reset(link)
      const heard = link.withoutNotifications(bytes, isDeaf)
      if (heard.length > 0) pass(link, client, heard)
    })
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
      return setTrap(of === 'any' ? null : COMMIT, (link) => {
        link.isDoomed = true
        return 'pass'
      })
    },
    atStatement: setTrap,
    deafen() {
      isDeaf = true
    },
    undeafen() {
      isDeaf = false
    },
    heal() {
      // Pieces that are still held back must not be overtaken by those that are not.
      if (isSilent || delayMs > 0) resetAll()
      isSilent = false
      isDeaf = false
      delayMs = 0
      for (const { done } of traps) done()
      traps.clear()
    },
    async close() {
      const closed = once(listening, 'close')
      listening.close()
      resetAll()
      await closed
    },
  }
}
