import v8 from 'node:v8'
import vm from 'node:vm'
import { expect, it } from 'vitest'
import { alteredRequest } from './altered-request.js'

v8.setFlagsFromString('--expose-gc')
const collect: () => void = vm.runInNewContext('gc')

async function collectGarbage(): Promise<void> {
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setImmediate(resolve))
    collect()
  }
}

it('tells who listens to nothing but the signal that the client has gone', async () => {
  const client = new AbortController()
  let heard = 0
  const listen = () => {
    // As a server has it that holds the signal of its request, and nothing else.
    const request = new Request('http://host/escapement/events')
    Object.defineProperty(request, 'signal', { value: client.signal })
    const { signal } = alteredRequest(request, { url: 'http://host/events' })
    signal.addEventListener('abort', () => {
      heard += 1
    })
  }
  listen()
  await collectGarbage()
  client.abort()
  expect(heard).toBe(1)
})

it('tells who holds the altered request, although nobody holds the first', async () => {
  const client = new AbortController()
  const receive = () => new Request('http://host/escapement/events', { signal: client.signal })
  const altered = alteredRequest(receive(), { url: 'http://host/events' })
  await collectGarbage()
  client.abort()
  expect(altered.signal.aborted).toBe(true)
})
