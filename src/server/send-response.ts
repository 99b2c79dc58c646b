import type { IncomingMessage, ServerResponse } from 'node:http'
import { compressed } from './compressed.js'

type Reader = ReadableStreamDefaultReader<Uint8Array>

/** What is said about the connection is for Node to say: it knows the client's version of HTTP. */
const OF_THE_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding'])

/**
 * Writes the response, its body only as fast as the client takes it. The body is cancelled when the client goes away
 * (`gone` says whether it has already), and where nobody will read it, so that whoever makes it can stop. Rejects if
 * the body fails.
 */
export async function sendResponse(
  response: Response,
  req: IncomingMessage,
  res: ServerResponse,
  gone?: AbortSignal,
): Promise<void> {
  const reader: Reader | undefined = response.body?.getReader()
  const cancel = () => void reader?.cancel().catch(() => {})
  if (res.headersSent || gone?.aborted) return cancel()
  res.once('close', cancel)
  try {
    writeHead(response, res)
    if (reader && req.method !== 'HEAD') return await writeBody(reader, req, res)
    cancel()
    res.end()
  } catch (error) {
    cancel()
    throw error
  }
}

function writeHead(response: Response, res: ServerResponse): void {
  res.statusCode = response.status
  for (const [name, value] of response.headers) {
    // Cookies that the application has set stay.
    if (name === 'set-cookie') res.appendHeader(name, value)
    else if (!OF_THE_CONNECTION.has(name)) res.setHeader(name, value)
  }
}

async function writeBody(reader: Reader, req: IncomingMessage, res: ServerResponse): Promise<void> {
  // Most answers are one piece that is there already: Node then writes its length, and all in one.
  const turn = new Promise<undefined>((resolve) => setImmediate(resolve, undefined))
  let reading = reader.read()
  const first = await Promise.race([reading, turn])
  if (first && !first.done) {
    reading = reader.read()
    const second = await Promise.race([reading, turn])
    if (second?.done) return end(res, await compressed(first.value, req, res))
    await write(res, first.value)
  } else if (!first) {
    res.flushHeaders()
  }
  for (let chunk = await reading; !chunk.done; chunk = await reader.read()) await write(res, chunk.value)
  end(res)
}

/** Something of the application's, such as a timeout, may have ended it before. */
function end(res: ServerResponse, last?: Uint8Array): void {
  if (!res.writableEnded) res.end(last)
}

/** Waits until more can be written, or nothing more needs to be. */
async function write(res: ServerResponse, chunk: Uint8Array): Promise<void> {
  if (res.writableEnded || res.destroyed || res.write(chunk)) return
  await new Promise<void>((resolve) => {
    const done = () => {
      res.off('drain', done)
      res.off('close', done)
      resolve()
    }
    res.on('drain', done)
    res.on('close', done)
  })
}
