import { failedLine } from '../client/export-format.js'
import { EscapementError } from '../errors.js'

const HEADERS = { 'content-type': 'application/x-ndjson; charset=utf-8', 'cache-control': 'no-store' }

/** Clients and proxies give up on whom they hear nothing from: some after a minute, that of Node after five. */
const SILENT_MS = 15_000

/**
 * An answer of lines, each made when it is asked for. What goes wrong soon is answered as any problem is; what goes wrong later
 * is its last line. For as long as the first takes its time there are empty ones. The lines end when the client goes away.
 */
export async function linesResponse(lines: AsyncGenerator<string, void, void>): Promise<Response> {
  const encoder = new TextEncoder()
  let next: Promise<IteratorResult<string, void>> | undefined = lines.next()
  let isAwaited = await isSilent(next)
  const source = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      try {
        if (isAwaited) {
          controller.enqueue(encoder.encode('\n'))
          isAwaited = await isSilent(next!)
          return
        }
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

/** Whether it has not come within the time; rejects as it does. */
async function isSilent(line: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, SILENT_MS, true)
  })
  try {
    return await Promise.race([line.then(() => false), silence])
  } finally {
    clearTimeout(timer)
  }
}
