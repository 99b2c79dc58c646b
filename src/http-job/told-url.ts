const LONGEST_SEGMENT = 32
/** Words, `v2`, and small numbers, joined by signs; nothing that mixes letters and digits, or cases, as a key does. */
const WORD = '(?:[a-z]+(?:[A-Z][a-z]+)*|[A-Z][a-z]+(?:[A-Z][a-z]+)*|v?\\d{1,4})'
const PLAIN_SEGMENT = new RegExp(`^${WORD}(?:(?:[-_.~:]|%3A)${WORD})*$`)

/**
 * A URL for errors and logs, which more people read than may call it: without its query, and with its path up to where that may be a
 * key, as in the addresses of webhooks.
 */
export function toldUrl({ origin, pathname }: URL): string {
  const segments = pathname.split('/')
  const first = segments.findIndex((segment) => segment !== '' && !isPlain(segment))
  return origin + (first === -1 ? segments : [...segments.slice(0, first), '…']).join('/')
}

function isPlain(segment: string): boolean {
  return segment.length <= LONGEST_SEGMENT && PLAIN_SEGMENT.test(segment)
}
