import { once } from 'node:events'
import net from 'node:net'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { openDatabase } from './open.js'

/** `R` lets in, `Z` is ready, `E` is an error: each with its length, as the protocol has it. */
function message(type: string, body: string): Buffer {
  const bytes = Buffer.from(body, 'latin1')
  const length = Buffer.alloc(4)
  length.writeInt32BE(bytes.length + 4)
  return Buffer.concat([Buffer.from(type), length, bytes])
}

const WELCOME_AND_GOODBYE = Buffer.concat([
  message('R', '\0\0\0\0'),
  message('Z', 'I'),
  message('E', 'SFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0'),
])

/** A server that goes down in the same breath in which it lets somebody in. */
async function startDyingServer(): Promise<string> {
  const server = net.createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(WELCOME_AND_GOODBYE))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `postgres://nobody@127.0.0.1:${(server.address() as net.AddressInfo).port}/none`
}

// An error that nobody hears would end the process, and fails the test run.
it('a server that goes down while it lets us in is unreachable, and no more', async () => {
  await expect(openDatabase(await startDyingServer())).rejects.toMatchObject({ code: 'database_unreachable' })
})

it('the same by a pool of the caller, whose listeners stay few', async () => {
  const pool = new pg.Pool({ connectionString: await startDyingServer() })
  pool.on('error', () => {})
  for (const _ of [1, 2, 3]) {
    await expect(openDatabase(pool)).rejects.toMatchObject({ code: 'database_unreachable' })
  }
  expect(pool.listenerCount('connect')).toBe(1)
  await pool.end()
})
