import { EscapementError } from '../errors.js'
import { quote } from '../time/report.js'
import { alteredRequest } from './altered-request.js'
import type { FetchHandler } from './handler.js'

const SEGMENT = /^[A-Za-z0-9._~-]+$/

/**
 * The handler for requests whose path begins with `prefix`, such as `/escapement` or `/internal/jobs`: it sees the path
 * that follows. A path that does not begin with it goes on as it is, for Express and Hono's `mount` take theirs away
 * themselves. One prefix is taken away, never two.
 */
export function underPrefix(handler: FetchHandler, prefix: string): FetchHandler {
  const segments = segmentsOf(prefix)
  return async (request) => {
    const url = new URL(request.url)
    const rest = pathAfter(segments, url.pathname)
    if (rest === undefined) return handler(request)
    // By its setter: resolved against a base, `//host/path` would be another host.
    url.pathname = rest
    return handler(alteredRequest(request, { url: url.href }))
  }
}

function segmentsOf(prefix: string): string[] {
  const [before, ...segments] = typeof prefix === 'string' ? prefix.split('/') : ['no text']
  const plain = segments.every((segment) => SEGMENT.test(segment) && segment !== '.' && segment !== '..')
  if (before === '' && segments.length > 0 && plain) return segments
  throw new EscapementError('option_invalid', {
    message:
      `prefix: ${quote(prefix)} – must be a path such as "/escapement" or "/internal/jobs": a slash before each part ` +
      'and none at the end, and in the parts only letters, digits and - . _ ~',
    details: { prefix },
  })
}

/** What follows the segments, or undefined where the path does not begin with them. */
function pathAfter(segments: readonly string[], path: string): string | undefined {
  const [, ...parts] = path.split('/')
  if (!segments.every((segment, at) => segment === decoded(parts[at]))) return undefined
  return `/${parts.slice(segments.length).join('/')}`
}

/** `%65` is another way to write `e`, and a framework may have routed by what it means. */
function decoded(part: string | undefined): string | undefined {
  if (part === undefined || !part.includes('%')) return part
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
