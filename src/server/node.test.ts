import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import net, { type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import type { FetchHandler } from './handler.js'
import { toNodeHandler } from './node.js'
import { underPrefix } from './prefix.js'

type Listener = (req: http.IncomingMessage, res: http.ServerResponse) => void

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

async function serve(listener: Listener): Promise<number> {
  const server = http.createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => server.close().closeAllConnections())
  return (server.address() as AddressInfo).port
}

const urlOf = async (handler: FetchHandler) => `http://127.0.0.1:${await serve(toNodeHandler(handler))}`

/** A connection of which every byte is ours to say. */
async function connect(port: number) {
  const socket = net.connect(port, '127.0.0.1')
  closing.push(() => socket.destroy())
  await once(socket, 'connect')
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  return {
    socket,
    send: (lines: string[]) => socket.write(`${lines.join('\r\n')}\r\n\r\n`),
    /** What has come when `pattern` is found in it. */
    async until(pattern: RegExp): Promise<string> {
      while (!pattern.test(received)) await once(socket, 'data')
      return received
    },
  }
}

const echoUrl: FetchHandler = async (request) => new Response(request.url)

/** A body that goes on until it is cancelled, and says when. */
function endless(first = 'first') {
  let cancelled = () => {}
  const cancellation = new Promise<void>((resolve) => {
    cancelled = resolve
  })
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(Buffer.from(first)),
    cancel: () => cancelled(),
  })
  return { body, cancellation }
}

describe('an unusual request gets an ordinary answer', () => {
  it('has the address that was reached for its host where HTTP/1.0 names none', async () => {
    const port = await serve(toNodeHandler(echoUrl))
    const { send, until } = await connect(port)
    send(['GET /a HTTP/1.0'])
    expect(await until(/\/a$/)).toMatch(new RegExp(`^HTTP/1.1 200 OK.*http://127.0.0.1:${port}/a$`, 's'))
  })

  it.each([
    ['GET http://other.example/a?b=c HTTP/1.1', 'h', /200 OK.*http:\/\/other\.example\/a\?b=c/s],
    ['GET //other.example/a HTTP/1.1', 'h', /200 OK.*http:\/\/h\/\/other\.example\/a/s],
    ['OPTIONS * HTTP/1.1', 'h', /400 Bad Request.*"code":"malformed_request"/s],
    ['GET \\a HTTP/1.1', 'h', /400 Bad Request/],
    ['GET /a HTTP/1.1', 'h/evil?', /400 Bad Request.*"code":"malformed_request"/s],
    ['TRACE /a HTTP/1.1', 'h', /405 Method Not Allowed.*allow: GET.*"method_not_allowed"/s],
    ['PROPFIND /a HTTP/1.1', 'h', /200 OK.*http:\/\/h\/a/s],
  ])('%s, host %s', async (line, host, answer) => {
    const { send, until } = await connect(await serve(toNodeHandler(underPrefix(echoUrl, '/x'))))
    send([line, `host: ${host}`])
    await until(answer)
  })

  it('believes no header that a proxy, or anybody else, may have set', async () => {
    const url = await urlOf(echoUrl)
    const headers = {
      'x-forwarded-host': 'other.example',
      'x-forwarded-proto': 'https',
      forwarded: 'host=a.example',
    }
    expect(await (await fetch(`${url}/a`, { headers })).text()).toBe(`${url}/a`)
  })

  it('is asked to go on with its body before it sends it', async () => {
    const { socket, send, until } = await connect(
      await serve(toNodeHandler(async (request) => new Response(await request.text()))),
    )
    send(['POST / HTTP/1.1', 'host: h', 'content-length: 4', 'expect: 100-continue'])
    await until(/100 Continue\r\n\r\n$/)
    socket.write('body')
    await until(/200 OK.*body$/s)
  })

  it('comes over HTTP/2', async () => {
    const handler = toNodeHandler(async (request) => {
      const headers = { connection: 'close', 'transfer-encoding': 'chunked' }
      return new Response(`${request.url} ${await request.text()}`, { headers })
    })
    const server = http2.createServer(handler).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const client = http2.connect(`http://127.0.0.1:${port}`)
    closing.push(
      () => client.destroy(),
      () => server.close(),
    )
    const stream = client.request({ ':method': 'POST', ':path': '/a' }).end('body')
    expect(await text(stream)).toBe(`http://127.0.0.1:${port}/a body`)
  })
})

describe('a response', () => {
  it('that is there at once has its length', async () => {
    const response = await fetch(await urlOf(async () => Response.json({ a: 'ü' })))
    expect(response.headers.get('content-length')).toBe('10')
    expect(await response.json()).toEqual({ a: 'ü' })
  })

  it('keeps the cookies of the application, and leaves the connection to Node', async () => {
    const port = await serve((req, res) => {
      res.setHeader('set-cookie', 'a=1')
      const headers = new Headers({ connection: 'close', 'transfer-encoding': 'chunked' })
      headers.append('set-cookie', 'b=2')
      headers.append('set-cookie', 'c=3')
      toNodeHandler(async () => new Response('x', { headers, status: 201 }))(req, res)
    })
    const response = await fetch(`http://127.0.0.1:${port}`)
    expect(response.status).toBe(201)
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2', 'c=3'])
    expect(response.headers.get('connection')).toBe('keep-alive')
  })

  it('sends its headers before there is a body', async () => {
    let write = (_text: string) => {}
    const url = await urlOf(async () => {
      const body = new ReadableStream({
        start(controller) {
          write = (text) => controller.enqueue(Buffer.from(text))
        },
      })
      return new Response(body)
    })
    const response = await fetch(url)
    const reader = response.body!.getReader()
    write('one')
    expect(Buffer.from((await reader.read()).value!).toString()).toBe('one')
    write('two')
    expect(Buffer.from((await reader.read()).value!).toString()).toBe('two')
    await reader.cancel()
  })

  it('is made only as fast as the client takes it', async () => {
    const CHUNKS = 400
    let made = 0
    const port = await serve(
      toNodeHandler(async () => {
        const body = new ReadableStream({
          pull(controller) {
            made += 1
            controller.enqueue(Buffer.alloc(64 * 1024, 'x'))
            if (made === CHUNKS) controller.close()
          },
        })
        return new Response(body)
      }),
    )
    const socket = net.connect(port, '127.0.0.1').pause()
    closing.push(() => socket.destroy())
    socket.write('GET / HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n')
    // Nobody reads: it is made until it rests, or to its end.
    await rest(() => made)
    expect(made).toBeLessThan(CHUNKS / 2)
    let taken = 0
    for await (const chunk of socket) taken += chunk.length
    expect(taken).toBeGreaterThan(CHUNKS * 64 * 1024)
  })

  it('is cancelled, and its signal aborted, when the client goes away', async () => {
    const { body, cancellation } = endless()
    let signal: AbortSignal | undefined
    const handler: FetchHandler = async (request) => {
      signal = request.signal
      return new Response(body)
    }
    const { socket, send, until } = await connect(await serve(toNodeHandler(handler)))
    send(['GET / HTTP/1.1', 'host: h'])
    await until(/first/)
    socket.destroy()
    await cancellation
    expect(signal!.aborted).toBe(true)
  })

  it('is cancelled when the client has gone before it', async () => {
    const { body, cancellation } = endless()
    const handler: FetchHandler = async ({ signal }) => {
      socket.destroy()
      await once(signal, 'abort')
      return new Response(body)
    }
    const { socket, send } = await connect(await serve(toNodeHandler(handler)))
    send(['GET / HTTP/1.1', 'host: h'])
    await cancellation
  })

  it('is cancelled where only its head was asked for', async () => {
    const { body, cancellation } = endless()
    const response = await fetch(await urlOf(async () => new Response(body, { status: 203 })), {
      method: 'HEAD',
    })
    expect(response.status).toBe(203)
    await cancellation
  })

  it('is cancelled where the application has answered before', async () => {
    const { body, cancellation } = endless()
    const port = await serve((req, res) => {
      res.end('timed out')
      toNodeHandler(async () => new Response(body))(req, res)
    })
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('timed out')
    await cancellation
  })

  it('is cancelled where the application ends it', async () => {
    const { body, cancellation } = endless()
    let giveUp = () => {}
    const port = await serve((req, res) => {
      giveUp = () => res.end()
      toNodeHandler(async () => new Response(body))(req, res)
    })
    const response = await fetch(`http://127.0.0.1:${port}`)
    giveUp()
    expect(await response.text()).toBe('first')
    await cancellation
  })
})

describe('JSON that is long', () => {
  const long = JSON.stringify(Array.from({ length: 500 }, (_, index) => ({ index })))
  const headersOf = async (handler: FetchHandler, accepted: string) => {
    const answered = await fetch(await urlOf(handler), { headers: { 'accept-encoding': accepted } })
    const { headers } = answered
    return [await answered.text(), headers.get('content-encoding'), headers.get('vary')]
  }

  it.each(['gzip', 'br, gzip;q=0.5', 'deflate,gzip'])('is compressed for who takes %s', async (accepted) => {
    const answer = async () => Response.json(JSON.parse(long), { headers: { vary: 'cookie' } })
    expect(await headersOf(answer, accepted)).toEqual([long, 'gzip', 'cookie, accept-encoding'])
  })

  it.each(['identity', 'br', 'gzip;q=0'])('is left as it is for who takes %s', async (accepted) => {
    const answer = async () => Response.json(JSON.parse(long))
    expect(await headersOf(answer, accepted)).toEqual([long, null, 'accept-encoding'])
  })

  it('is all that is compressed', async () => {
    const short = async () => Response.json('short')
    expect(await headersOf(short, 'gzip')).toEqual(['"short"', null, null])
    const page = async () => new Response(long, { headers: { 'content-type': 'text/html' } })
    expect(await headersOf(page, 'gzip')).toEqual([long, null, null])
  })
})

describe('what goes wrong', () => {
  const failing: FetchHandler = async () => {
    throw new Error('of the handler')
  }
  const breaking: FetchHandler = async () => {
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(Buffer.from('half')),
      pull: () => new Promise((_, reject) => setImmediate(reject, new Error('of the body'))),
    })
    return new Response(body)
  }

  it('is answered as a problem that tells nothing', async () => {
    const response = await fetch(await urlOf(failing))
    expect(response.status).toBe(500)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(await response.json()).toMatchObject({ code: 'internal_error', detail: 'Something went wrong.' })
  })

  it('is passed on to the application, which answers', async () => {
    const port = await serve((req, res) => {
      toNodeHandler(failing)(req, res, (error) => res.end(`the application: ${(error as Error).message}`))
    })
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('the application: of the handler')
  })

  it('breaks an answer off that has begun, so that it does not look whole', async () => {
    const { promise, resolve } = promised<unknown>()
    const port = await serve((req, res) => toNodeHandler(breaking)(req, res, resolve))
    const response = await fetch(`http://127.0.0.1:${port}`)
    await expect(response.text()).rejects.toThrow('terminated')
    expect(await promise).toEqual(new Error('of the body'))
  })
})

describe('a body', () => {
  const echo: FetchHandler = async (request) => new Response(await request.text())

  it('of many chunks arrives whole', async () => {
    const body = 'ü'.repeat(4 * 1024 * 1024)
    const response = await fetch(await urlOf(underPrefix(echo, '/x')), { method: 'POST', body })
    expect((await response.text()) === body).toBe(true)
  })

  it('is taken only as fast as the handler reads', async () => {
    const SIZE = 64 * 1024 * 1024
    const asked = promised<http.IncomingMessage>()
    const reading = promised<void>()
    const handler: FetchHandler = async (request) => {
      await reading.promise
      return new Response(`${(await request.arrayBuffer()).byteLength}`)
    }
    const port = await serve((req, res) => {
      toNodeHandler(underPrefix(handler, '/x'))(req, res)
      asked.resolve(req)
    })
    const { socket, send, until } = await connect(port)
    send(['POST /x HTTP/1.1', 'host: h', `content-length: ${SIZE}`])
    socket.write(Buffer.alloc(SIZE))
    const req = await asked.promise
    await rest(() => req.socket.bytesRead)
    expect(req.socket.bytesRead).toBeLessThan(SIZE / 8)
    reading.resolve()
    await until(new RegExp(`${SIZE}$`))
  })

  it('that breaks off is an error for who reads it', async () => {
    const { promise, resolve } = promised<unknown>()
    const handler: FetchHandler = async (request) => {
      await request.text().catch(resolve)
      return new Response()
    }
    const { socket, send } = await connect(await serve(toNodeHandler(handler)))
    send(['POST / HTTP/1.1', 'host: h', 'content-length: 9'])
    socket.write('half')
    socket.end()
    expect(await promise).toMatchObject({ code: 'ECONNRESET' })
  })

  it.each<[string, FetchHandler]>([
    ['is not read', async () => new Response('refused', { status: 413 })],
    [
      'is cancelled',
      async (request) => {
        const reader = request.body!.getReader()
        await reader.read()
        await reader.cancel()
        return new Response('refused', { status: 413 })
      },
    ],
    [
      'is left half-read',
      async (request) => {
        await request.body!.getReader().read()
        return new Response('refused', { status: 413 })
      },
    ],
  ])('that %s leaves the connection to the next request', async (_how, refuse) => {
    const handler: FetchHandler = async (request) =>
      request.method === 'POST' ? refuse(request) : new Response('the next')
    const { socket, send, until } = await connect(await serve(toNodeHandler(underPrefix(handler, '/x'))))
    const length = 8 * 1024 * 1024
    send(['POST /x HTTP/1.1', 'host: h', `content-length: ${length}`])
    socket.write(Buffer.alloc(length))
    send(['GET /x HTTP/1.1', 'host: h'])
    expect(await until(/the next/s)).toMatch(/413 Payload Too Large.*refused.*200 OK/s)
  })

  it('that is refused and never ends is not waited for', async () => {
    const handler: FetchHandler = async () => new Response('refused', { status: 413 })
    const { socket, send, until } = await connect(await serve(toNodeHandler(underPrefix(handler, '/x'))))
    send(['POST /x HTTP/1.1', 'host: h', 'transfer-encoding: chunked'])
    socket.write('1\r\nx\r\n')
    await until(/refused/)
    await once(socket, 'close')
  })

  /** Reads the body as a parser of the application's does, and leaves what it made of it. */
  const behindParser = (leave: (bytes: Buffer) => object) =>
    serve(async (req, res) => {
      const bytes: Buffer[] = []
      for await (const chunk of req) bytes.push(chunk)
      Object.assign(req, leave(Buffer.concat(bytes)))
      toNodeHandler(async (request) => {
        const { headers } = request
        return Response.json([
          await request.text(),
          headers.get('content-encoding'),
          headers.get('content-length'),
        ])
      })(req, res)
    })

  it.each<[string, string, (bytes: Buffer) => object, string]>([
    ['JSON', 'application/json', () => ({ body: { a: [1] } }), '{"a":[1]}'],
    ['bytes', 'application/json', (body) => ({ body }), '{ "a": "ü" }'],
    ['text', 'application/json', (bytes) => ({ body: `${bytes}` }), '{ "a": "ü" }'],
    ['bytes beside JSON', 'application/json', (rawBody) => ({ rawBody, body: {} }), '{ "a": "ü" }'],
    [
      'fields',
      'application/x-www-form-urlencoded',
      () => ({ body: { a: 'ü&', b: ['1', '2'] } }),
      'a=%C3%BC%26&b=1&b=2',
    ],
  ])('that a parser has read, and left as %s, is there again', async (_what, type, leave, expected) => {
    const port = await behindParser(leave)
    const headers = { 'content-type': type, 'content-encoding': 'identity' }
    const response = await fetch(`http://127.0.0.1:${port}`, {
      method: 'POST',
      headers,
      body: '{ "a": "ü" }',
    })
    expect(await response.json()).toEqual([expected, null, null])
  })

  it('that a parser has read for nothing is no body', async () => {
    const port = await behindParser(() => ({ body: {} }))
    const response = await fetch(`http://127.0.0.1:${port}`, { method: 'POST' })
    expect(await response.json()).toEqual(['', null, '0'])
  })

  it.each<[string, string, object]>([
    ['gone', 'application/json', {}],
    ['parts', 'multipart/form-data; boundary=x', { body: { a: '1' } }],
    ['nested fields', 'application/x-www-form-urlencoded', { body: { a: { b: '1' } } }],
  ])('that is %s is an error with a way out', async (_what, type, left) => {
    const { promise, resolve } = promised<unknown>()
    const port = await serve((req, res) => {
      Object.assign(req, left)
      req.resume().once('end', () =>
        toNodeHandler(echo)(req, res, (error) => {
          resolve(error)
          res.end()
        }),
      )
    })
    await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers: { 'content-type': type }, body: 'x' })
    const message = expect.stringContaining('Mount Escapement before what reads it')
    expect(await promise).toMatchObject({ code: 'body_consumed', message })
  })
})

/** Waits until the count has not grown for many turns of the event loop. */
async function rest(count: () => number): Promise<void> {
  for (let before = -1, still = 0; still < 100; still = count() === before ? still + 1 : 0) {
    before = count()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function promised<T>() {
  let resolve = (_value: T) => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
