import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

const compress = promisify(gzip)
/** What fits into one packet is not sent faster. It also keeps secrets, which are short, out of what is compressed. */
const WORTH_IT = 1_400
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i

/** A whole answer, compressed where that is worth it and the client takes it; the headers then say so. */
export async function compressed(
  body: Uint8Array,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<Uint8Array> {
  if (body.byteLength < WORTH_IT || res.hasHeader('content-encoding')) return body
  if (!JSON_TYPE.test(String(res.getHeader('content-type')))) return body
  res.appendHeader('vary', 'accept-encoding')
  if (!acceptsGzip(req.headers['accept-encoding'])) return body
  res.setHeader('content-encoding', 'gzip')
  res.removeHeader('content-length')
  return compress(body)
}

function acceptsGzip(header: string | string[] | undefined): boolean {
  const named = /(?:^|,)\s*gzip\s*(?:;\s*q=([\d.]+))?\s*(?:,|$)/i.exec(String(header ?? ''))
  return named !== null && Number(named[1] ?? 1) > 0
}
