import { ProblemError } from './problems.js'

/** How deep a body may be nested: what walks it later does so by recursion. */
const DEEPEST = 64
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json$/i

/** The JSON of a request, read up to a limit; undefined where it has no body. */
export async function readJsonBody(request: Request, limit: number): Promise<unknown> {
  const bytes = await readBytes(request, limit)
  if (bytes.byteLength === 0) return undefined
  const type = request.headers.get('content-type')
  if (type === null || !isJsonInUtf8(type)) {
    throw new ProblemError('media_type_unsupported', {
      detail: `The body must be JSON in UTF-8: send it with "Content-Type: application/json"${type === null ? '' : `, not ${JSON.stringify(type.slice(0, 100))}`}.`,
    })
  }
  const encoding = request.headers.get('content-encoding')
  if (encoding !== null && encoding.toLowerCase() !== 'identity') {
    throw new ProblemError('media_type_unsupported', {
      detail: `A body with "Content-Encoding: ${encoding.slice(0, 100)}" is not read: send it as it is.`,
    })
  }
  return parse(decode(bytes))
}

function isJsonInUtf8(type: string): boolean {
  const [essence, ...parameters] = type.split(';').map((part) => part.trim())
  const charset = parameters.find((parameter) => /^charset\s*=/i.test(parameter))
  return JSON_TYPE.test(essence!) && (charset === undefined || /=\s*"?utf-?8"?$/i.test(charset))
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ProblemError('malformed_request', { detail: 'The body is not UTF-8.' })
  }
}

/** Objects lose it on their way, and whoever sends it would not know. */
const PROTOTYPE = /"__proto__"\s*:/

function parse(text: string): unknown {
  if (depthOf(text) > DEEPEST) {
    throw new ProblemError('malformed_request', {
      detail: `The body is nested more than ${DEEPEST} levels deep.`,
    })
  }
  if (PROTOTYPE.test(text)) {
    throw new ProblemError('malformed_request', {
      detail: 'The body has a field "__proto__", which is not taken.',
    })
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ProblemError('malformed_request', {
      detail: `The body is not JSON: ${(error as Error).message}`,
    })
  }
}

/** The deepest level of brackets outside texts; enough for what is JSON, and whatever is not is refused later. */
function depthOf(text: string): number {
  let [depth, deepest, isText] = [0, 0, false]
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (isText) {
      if (code === 0x5c) index++
      else if (code === 0x22) isText = false
    } else if (code === 0x22) isText = true
    else if (code === 0x5b || code === 0x7b) deepest = Math.max(deepest, ++depth)
    else if (code === 0x5d || code === 0x7d) depth--
  }
  return deepest
}

async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > limit) throw tooLarge(limit)
  if (request.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > limit) throw tooLarge(limit)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function tooLarge(limit: number): ProblemError {
  return new ProblemError('body_too_large', {
    detail: `The body is larger than ${limit} bytes: send it in parts.`,
  })
}
