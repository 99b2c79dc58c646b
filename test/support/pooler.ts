import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import net from 'node:net'
import pg from 'pg'

/**
 * A pooler that does to sessions what PgBouncer does, in its transaction mode or in its session mode, and nothing else.
 *
 * In transaction mode each transaction goes to the session that was not used for the longest, so that nothing which is left on
 * one is there for the next transaction; what a session says between transactions reaches nobody.
 */
export interface Pooler {
  readonly url: string
  /** The numbers of the server's processes that it is connected to. */
  processes(): number[]
  /** Cuts all connections, and takes no more. */
  close(): Promise<void>
}

export interface PoolerSettings {
  mode: 'transaction' | 'session'
  /** How many sessions its clients share. */
  sessions: number
}

interface Session {
  process: number
  stream: net.Socket
  user: Client | undefined
}

interface Client {
  socket: net.Socket
  session: Session | undefined
  /** What it sent while it waited for a session. */
  waiting: Buffer[]
  /** How many answers are to come before it is done. */
  unanswered: number
}

/** What PgBouncer takes of the parameters that a client begins with. */
const TAKEN = [
  'user',
  'database',
  'client_encoding',
  'application_name',
  'datestyle',
  'timezone',
  'standard_conforming_strings',
]
const SSL_REQUEST = 80_877_103
const CANCEL_REQUEST = 80_877_102

export async function startPooler(serverUrl: string, { mode, sessions }: PoolerSettings): Promise<Pooler> {
  const greeting: Buffer[] = [message('R', int32(0))]
  const open = new Set<Session>()
  const idle: Session[] = []
  const queue: Client[] = []
  const sockets = new Set<net.Socket>()
  let isClosed = false

  async function openSession(): Promise<void> {
    const client = new pg.Client({ connectionString: serverUrl }) as unknown as DriverClient
    const isFirst = greeting.length === 1
    client.connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
      if (isFirst) greeting.push(message('S', Buffer.from(`${parameterName}\0${parameterValue}\0`)))
    })
    await client.connect()
    const { stream } = client.connection
    const session: Session = { process: client.processID, stream, user: undefined }
    // It has done its part: from here on its bytes are ours.
    for (const event of ['data', 'end', 'close', 'error']) stream.removeAllListeners(event)
    stream.on('error', () => {})
    stream.on(
      'data',
      inMessages((bytes, type) => onAnswer(session, bytes, type)),
    )
    stream.on('close', () => onSessionClosed(session))
    open.add(session)
    give(session)
  }

  function give(session: Session): void {
    const next = queue.shift()
    if (next) link(next, session)
    else idle.push(session)
  }

  function link(client: Client, session: Session): void {
    client.session = session
    session.user = client
    for (const bytes of client.waiting.splice(0)) session.stream.write(bytes)
  }

  function onAnswer(session: Session, bytes: Buffer, type: string): void {
    const client = session.user
    client?.socket.write(bytes)
    if (!client || type !== 'Z') return
    client.unanswered -= 1
    const isIdle = bytes.at(-1) === 'I'.charCodeAt(0)
    if (mode === 'session' || !isIdle || client.unanswered > 0) return
    client.session = undefined
    session.user = undefined
    give(session)
  }

  function onSessionClosed(session: Session): void {
    open.delete(session)
    if (idle.includes(session)) idle.splice(idle.indexOf(session), 1)
    session.user?.socket.destroy()
    if (!isClosed) openSession().catch(() => {})
  }

  function onRequest(client: Client, bytes: Buffer, type: string): void {
    if (type === 'X') return void client.socket.end()
    if (type === 'Q' || type === 'S') client.unanswered += 1
    if (client.session) return void client.session.stream.write(bytes)
    client.waiting.push(bytes)
    if (client.waiting.length > 1) return
    const session = idle.shift()
    if (session) link(client, session)
    else queue.push(client)
  }

  /** In session mode what it has done to its session must go with it; else it left it in the middle of a transaction. */
  function onClientClosed(client: Client): void {
    if (queue.includes(client)) queue.splice(queue.indexOf(client), 1)
    client.session?.stream.destroy()
  }

  function onConnection(socket: net.Socket): void {
    sockets.add(socket.setNoDelay())
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.once('data', (bytes) => begin(socket, bytes))
  }

  function begin(socket: net.Socket, bytes: Buffer): void {
    const code = bytes.readInt32BE(4)
    if (code === CANCEL_REQUEST) return void socket.end()
    if (code === SSL_REQUEST) {
      socket.write('N')
      return void socket.once('data', (next) => begin(socket, next))
    }
    const words = bytes
      .subarray(8, bytes.length - 2)
      .toString()
      .split('\0')
    const refused = words.find((name, place) => place % 2 === 0 && !TAKEN.includes(name.toLowerCase()))
    if (refused !== undefined) {
      const fields = ['SFATAL', 'VFATAL', 'C08P01', `Munsupported startup parameter: ${refused}`, '']
      return void socket.end(message('E', Buffer.from(`${fields.join('\0')}\0`)))
    }
    const client: Client = { socket, session: undefined, waiting: [], unanswered: 0 }
    socket.on(
      'data',
      inMessages((request, type) => onRequest(client, request, type)),
    )
    socket.on('close', () => onClientClosed(client))
    // A number that no process has, as poolers make them up.
    const key = Buffer.concat([int32(0x40000000 + open.size), randomBytes(4)])
    socket.write(Buffer.concat([...greeting, message('K', key), message('Z', Buffer.from('I'))]))
  }

  for (let count = 0; count < sessions; count++) await openSession()
  const server = net.createServer(onConnection).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(serverUrl)
  url.host = `127.0.0.1:${(server.address() as net.AddressInfo).port}`
  return {
    url: url.href,
    processes: () => [...open].map(({ process }) => process),
    async close() {
      isClosed = true
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      for (const { stream } of open) stream.destroy()
      await closed
    },
  }
}

/** What the driver's types do not tell: the connection under it, which is ours once it has signed in. */
interface DriverClient {
  connect(): Promise<void>
  processID: number
  connection: {
    stream: net.Socket
    on(event: 'parameterStatus', listener: (status: Record<string, string>) => void): void
  }
}

/** Cuts what arrives into whole messages, each with its type. */
function inMessages(onMessage: (bytes: Buffer, type: string) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    while (rest.length >= 5) {
      const length = 1 + rest.readInt32BE(1)
      if (rest.length < length) return
      const bytes = rest.subarray(0, length)
      rest = rest.subarray(length)
      onMessage(bytes, String.fromCharCode(bytes[0]!))
    }
  }
}

function message(type: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body])
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
