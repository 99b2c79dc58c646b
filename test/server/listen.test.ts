import { once } from 'node:events'
import http from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listen } from '../../src/server/listen.js'

/** A server whose answers go on for ever; and how much was asked of each. */
async function open(chunk: Uint8Array | null) {
  const bodies: { pulled: number; isCancelled: boolean }[] = []
  const handler = async () => {
    const body = { pulled: 0, isCancelled: false }
    bodies.push(body)
    const stream = new ReadableStream(
      {
        async pull(controller) {
          if (chunk === null) return new Promise<void>(() => {})
          body.pulled += chunk.byteLength
          controller.enqueue(chunk)
        },
        cancel() {
          body.isCancelled = true
        },
      },
      { highWaterMark: 0 },
    )
    return new Response(stream)
  }
  const server = await listen(handler, { host: '127.0.0.1', port: 0, sendTimeout: '1s' })
  onTestFinished(() => server.close())
  const get = async () => {
    const request = http.get(server.url, { agent: false })
    onTestFinished(() => void request.destroy())
    request.on('error', () => {})
    const [response] = await once(request, 'response')
    return response as http.IncomingMessage
  }
  return { bodies, get }
}

describe('the server', () => {
  it('asks for no more than a client takes, and ends the connection of one that takes nothing', async () => {
    const { bodies, get } = await open(new Uint8Array(256 * 1024))
    await get()
    const quick = await get()
    let taken = 0
    quick.on('data', (chunk: Buffer) => {
      taken += chunk.byteLength
    })
    await expect.poll(() => bodies[0]!.isCancelled, { timeout: 10_000 }).toBe(true)
    // What the operating system takes for it.
    expect(bodies[0]!.pulled).toBeLessThan(16 * 1024 * 1024)
    expect(taken).toBeGreaterThan(bodies[0]!.pulled)
    expect(bodies[1]!.isCancelled).toBe(false)
  })

  it('waits with a client to which there is nothing to send', async () => {
    const { bodies, get } = await open(null)
    const response = await get()
    let isClosed = false
    response.on('close', () => {
      isClosed = true
    })
    // Longer than the one that takes nothing has.
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect({ isClosed, isCancelled: bodies[0]!.isCancelled }).toEqual({ isClosed: false, isCancelled: false })
  })
})
