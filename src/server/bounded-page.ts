import type { RunPage, RunSearchOptions } from '../client/run-search.js'
import type { Runs } from '../client/runs.js'

/** What a page may hold before it ends early, in bytes of JSON: an input can be as large as a body. */
const MOST_BYTES = 4 * 1024 * 1024
const FIRST_ITEMS = 25

/**
 * A page of at most `limit` items that also ends where it grows too large. It is read in portions that grow, so that no more
 * than a few large ones are in memory that are not sent.
 */
export async function boundedPage<Item>(
  { limit, pageToken }: { limit: number; pageToken?: string },
  read: (portion: { limit: number; pageToken?: string }) => Promise<{
    items: readonly Item[]
    nextPageToken: string | null
  }>,
): Promise<{ items: Item[]; nextPageToken: string | null }> {
  const items: Item[] = []
  let [next, bytes, portion] = [pageToken, 0, FIRST_ITEMS]
  for (;;) {
    const wanted = Math.min(limit - items.length, portion)
    const found = await read({ limit: wanted, ...(next !== undefined && { pageToken: next }) })
    items.push(...found.items)
    bytes += JSON.stringify(found.items).length
    const { nextPageToken } = found
    // A portion that is short has cost as much as it may.
    const isEnough = items.length >= limit || bytes > MOST_BYTES || found.items.length < wanted
    if (nextPageToken === null || isEnough) return { items, nextPageToken }
    next = nextPageToken
    portion *= 4
  }
}

export const pageOf = (limit: number, token: string | undefined) => ({
  limit,
  ...(token !== undefined && { pageToken: token }),
})

/** A page of entries that each say where the next begins. */
export async function pageOfEntries<Entry extends { pageToken: string }>(
  { limit, pageToken: token }: { limit: number; pageToken?: string },
  read: (portion: { limit: number; pageToken?: string }) => Promise<readonly Entry[]>,
) {
  const { items, nextPageToken } = await boundedPage(pageOf(limit, token), async (portion) => {
    // One is left over if there are more.
    const found = await read({ ...portion, limit: portion.limit + 1 })
    const entries = found.slice(0, portion.limit)
    return { items: entries, nextPageToken: found.length > entries.length ? entries.at(-1)!.pageToken : null }
  })
  return { shown: items.map(({ pageToken: _, ...entry }) => entry), nextPageToken }
}

/** Runs of a page, newest first. */
export async function findRuns(
  runs: Runs,
  { limit, pageToken: token, ...filter }: RunSearchOptions & { limit: number },
): Promise<RunPage> {
  const { items, nextPageToken } = await boundedPage(pageOf(limit, token), async (portion) => {
    const found = await runs.search({ ...filter, ...portion })
    return { items: found.runs, nextPageToken: found.nextPageToken }
  })
  return { runs: items, nextPageToken }
}
