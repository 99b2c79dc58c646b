/**
 * A handler that shows how requests and responses get through to where it is mounted:
 *
 * - `/echo…` answers with what it was sent;
 * - `/ticks` streams, and makes its next chunk only when `POST /ticks` asks for it;
 * - `/endless` streams for ever; `/endings` tells, once it is so, that its client has gone;
 * - `/failure` throws.
 */
export function createTransportHandler(): (request: Request) => Promise<Response> {
  let tick = () => {}
  const signalled = promised()
  const cancelled = promised()
  return async (request) => {
    const { method, url, headers } = request
    const { pathname, search } = new URL(url)
    if (pathname.startsWith('/echo')) {
      const body = await request.text()
      const ifMatch = headers.get('if-match')
      const sent = { method, path: pathname + search, ifMatch, length: body.length, body: body.slice(0, 100) }
      return Response.json(sent, { headers: { 'x-method': method } })
    }
    if (pathname === '/ticks' && method === 'POST') {
      tick()
      return new Response(null, { status: 204 })
    }
    if (pathname === '/ticks') {
      let count = 0
      return streamed((controller) => {
        count += 1
        controller.enqueue(new TextEncoder().encode(`tick ${count}\n`))
        if (count === 3) return controller.close()
        return new Promise((resolve) => {
          tick = resolve
        })
      })
    }
    if (pathname === '/endless') {
      request.signal.addEventListener('abort', signalled.resolve)
      const forEver = new Promise<void>(() => {})
      let begun = false
      return streamed((controller) => {
        if (begun) return forEver
        begun = true
        controller.enqueue(new TextEncoder().encode('begun\n'))
      }, cancelled.resolve)
    }
    if (pathname === '/endings') {
      await Promise.all([signalled.promise, cancelled.promise])
      return Response.json({ signalled: true, cancelled: true })
    }
    if (pathname === '/failure') throw new Error('of the handler')
    return new Response('nothing of ours', { status: 404, headers: { 'x-from': 'handler' } })
  }
}

function streamed(
  pull: (controller: ReadableStreamDefaultController) => Promise<void> | void,
  cancel = () => {},
): Response {
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform' }
  // Nothing is made before it is asked for.
  return new Response(new ReadableStream({ pull, cancel }, { highWaterMark: 0 }), { headers })
}

function promised() {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
