import { ReadableStream, type ReadableStreamDefaultController } from 'node:stream/web'
import { failedLine } from '../client/export-format.js'
import { EscapementError } from '../errors.js'

const HEADERS = { 'content-type': 'application/x-ndjson; charset=utf-8', 'cache-control': 'no-store' }

/**
 * An answer of lines, each made when it is asked for. What goes wrong before the first is answered as any problem is; what
 * goes wrong later is its last line. The lines end when the client goes away.
 */
export async function linesResponse(lines: AsyncGenerator<string, void, void>): Promise<Response> {
  const encoder = new TextEncoder()
  let next: Promise<IteratorResult<string, void>> | undefined = Promise.resolve(await lines.next())
  const source = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      try {
        const { done, value } = await (next ?? lines.next())
        next = undefined
        if (done) controller.close()
        else controller.enqueue(encoder.encode(value))
      } catch (error) {
        if (!(error instanceof EscapementError)) throw error
        controller.enqueue(encoder.encode(failedLine(error)))
        controller.close()
      }
    },
    async cancel() {
      await lines.return()
    },
  }
  // Nothing is fetched ahead: what was asked for was taken.
  return new Response(new ReadableStream(source, { highWaterMark: 0 }), { headers: HEADERS })
}
