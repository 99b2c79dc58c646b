import pg from 'pg'
import type { ClientLike } from './postgres-session.js'
import { listenersLockOf } from './store.js'

/**
 * One connection for all notifications and for the locks that say that this process lives, opened with the first of
 * them.
 *
 * When it breaks it is opened again, with backoff, and every listener is called once with an empty payload: what
 * was sent in between is lost, so they had better look. Nothing else depends on it: polling alone is correct.
 */
export interface Listener {
  /** Whether anything can be heard. */
  readonly canListen: boolean
  listen(channel: string, listener: (payload: string) => void): Promise<() => Promise<void>>
  holdLock(key: string, onChange: (isHeld: boolean) => void): Promise<(() => Promise<void>) | null>
  close(): Promise<void>
}

interface ListenConnection {
  client: ClientLike
  end(): Promise<void>
}

interface Lock {
  heldBy: ListenConnection | null
  onChange(isHeld: boolean): void
}

const DEADLINE_MS = 10_000
const END_PATIENCE_MS = 1_000
const FIRST_RETRY_MS = 100
const LOCK_RETRY_MS = 1_000
/** Short: after an outage a worker must be back before the others take its runs for lost. */
const LAST_RETRY_MS = 1_000

export function openListener(connect: () => Promise<ListenConnection>): Listener {
  const channels = new Map<string, Set<(payload: string) => void>>()
  /** The channels that a connection listens to. */
  const heard = new WeakMap<ListenConnection, Set<string>>()
  const locks = new Map<string, Lock>()
  let connection: Promise<ListenConnection> | undefined
  let current: ListenConnection | undefined
  let retry: NodeJS.Timeout | undefined
  let closed = false

  async function open(): Promise<ListenConnection> {
    const opened = await connect()
    const { client } = opened
    client.on('notification', (message: { channel: string; payload?: string }) => {
      for (const listener of channels.get(message.channel) ?? []) listener(message.payload ?? '')
    })
    const onLost = () => lost(opened)
    client.on('error', onLost)
    client.on('end', onLost)
    try {
      for (const channel of channels.keys()) await listenTo(opened, channel)
      for (const key of locks.keys()) await takeLock(opened, key)
    } catch (error) {
      setAllFree()
      opened.end().catch(() => {})
      throw error
    }
    return opened
  }

  /** Once for each connection, whoever comes first: a lock that is taken twice is to be let go of twice. */
  async function listenTo(opened: ListenConnection, channel: string): Promise<void> {
    const listened = heard.get(opened) ?? new Set()
    heard.set(opened, listened)
    if (listened.has(channel)) return
    listened.add(channel)
    await opened.client.query({ text: listenText(channel), query_timeout: DEADLINE_MS })
  }

  /** Not waiting: it may still be held by our own session that broke, until the server notices. */
  async function takeLock(opened: ListenConnection, key: string): Promise<void> {
    const lock = locks.get(key)
    const text = `select pg_try_advisory_lock(${BigInt(key)}) as taken`
    const { rows } = await opened.client.query({ text, query_timeout: DEADLINE_MS })
    const isTaken = (rows as { taken: boolean }[])[0]?.taken
    // Nobody wants it any more, or somebody else does: a lock that is taken twice is to be let go of twice.
    if (locks.get(key) !== lock) return isTaken ? letGoOf(opened, key) : undefined
    if (isTaken) return setHeld(key, opened)
    const again = () => {
      if (!closed && locks.get(key) === lock && current === opened)
        takeLock(opened, key).catch(() => lost(opened))
    }
    setTimeout(again, LOCK_RETRY_MS).unref()
  }

  /** With its session, where that does not answer. */
  async function letGoOf(holder: ListenConnection, key: string): Promise<void> {
    const text = `select pg_advisory_unlock(${BigInt(key)})`
    await holder.client.query({ text, query_timeout: DEADLINE_MS }).catch(() => lost(holder))
  }

  function setHeld(key: string, holder: ListenConnection | null): void {
    const lock = locks.get(key)
    if (!lock || lock.heldBy === holder) return
    lock.heldBy = holder
    lock.onChange(holder !== null)
  }

  /** They went with the session. */
  function setAllFree(): void {
    for (const key of locks.keys()) setHeld(key, null)
  }

  function lost(which: ListenConnection): void {
    if (closed || current !== which) return
    current = undefined
    connection = undefined
    setAllFree()
    which.end().catch(() => {})
    reopen(FIRST_RETRY_MS)
  }

  function reopen(delayMs: number): void {
    clearTimeout(retry)
    retry = setTimeout(async () => {
      if (closed || (channels.size === 0 && locks.size === 0)) return
      try {
        await connected()
        for (const listeners of channels.values()) for (const listener of listeners) listener('')
      } catch {
        if (!closed) reopen(Math.min(delayMs * 2, LAST_RETRY_MS))
      }
    }, delayMs)
    retry.unref()
  }

  function connected(): Promise<ListenConnection> {
    connection ??= open().then(
      (opened) => {
        current = opened
        return opened
      },
      (error) => {
        connection = undefined
        throw error
      },
    )
    return connection
  }

  return {
    canListen: true,
    async listen(channel, given) {
      // A listener of its own, so that the same function may listen twice and stop once.
      const listener = (payload: string) => given(payload)
      const listeners = channels.get(channel) ?? new Set()
      channels.set(channel, listeners.add(listener))
      try {
        await listenTo(await connected(), channel)
      } catch {
        // No connection to spare: polling does without, and it is tried again.
        if (current) lost(current)
        else reopen(FIRST_RETRY_MS)
      }
      return async () => {
        listeners.delete(listener)
        if (listeners.size > 0 || channels.get(channel) !== listeners) return
        channels.delete(channel)
        if (!current) return
        heard.get(current)?.delete(channel)
        await current.client
          .query({ text: unlistenText(channel), query_timeout: DEADLINE_MS })
          .catch(() => {})
      }
    },
    async holdLock(key, onChange) {
      const lock: Lock = { heldBy: null, onChange }
      try {
        const opened = await connected()
        locks.set(key, lock)
        await takeLock(opened, key)
      } catch {
        locks.set(key, lock)
        if (current) lost(current)
        else reopen(FIRST_RETRY_MS)
      }
      return async () => {
        if (locks.get(key) !== lock) return
        locks.delete(key)
        if (lock.heldBy) await letGoOf(lock.heldBy, key)
      }
    },
    async close() {
      closed = true
      clearTimeout(retry)
      const opened = await connection?.catch(() => undefined)
      // A connection that went silent never says goodbye.
      const patience = new Promise((resolve) => setTimeout(resolve, END_PATIENCE_MS).unref())
      await Promise.race([opened?.end().catch(() => {}), patience])
    },
  }
}

/** For connections that cannot spare one, or whose sessions others share: nothing is ever heard, and polling does without. */
export const silentListener: Listener = {
  canListen: false,
  listen: async () => async () => {},
  holdLock: async () => null,
  close: async () => {},
}

/** Together with the lock by which others see that somebody listens; it waits at most for one that is just looking. */
function listenText(channel: string): string {
  return `listen ${quote(channel)}; select pg_advisory_lock_shared(${listenersLockOf(channel)})`
}

function unlistenText(channel: string): string {
  return `unlisten ${quote(channel)}; select pg_advisory_unlock_shared(${listenersLockOf(channel)})`
}

function quote(identifier: string): string {
  return pg.escapeIdentifier(identifier)
}
