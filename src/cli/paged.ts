import type { Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import { errorColours } from './colours.js'

export interface LimitFlags {
  limit: number
  all?: boolean
}

const DEFAULT_LIMIT = 100
const LARGEST_PAGE = 1_000

export function withLimitFlags(command: Command): Command {
  return command
    .option('--limit <number>', 'how many at most', parseCount, DEFAULT_LIMIT)
    .option('--all', 'all of them, however many there are')
}

export function parseCount(text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= 1_000_000_000) return count
  throw new InvalidArgumentError('It must be a whole number from 1 on.')
}

interface Paged<Item> {
  items: readonly Item[]
  nextPageToken: string | null
}

/** Reads pages until there are as many as were asked for. `hasMore` if there may be others. */
export async function collect<Item>(
  { limit, all }: LimitFlags,
  page: (query: { limit: number; pageToken?: string }) => Promise<Paged<Item>>,
): Promise<{ items: Item[]; hasMore: boolean }> {
  const most = all ? Number.POSITIVE_INFINITY : limit
  const items: Item[] = []
  let pageToken: string | null = null
  do {
    const query = { limit: Math.min(most - items.length, LARGEST_PAGE) }
    const found: Paged<Item> = await page(pageToken === null ? query : { ...query, pageToken })
    items.push(...found.items)
    pageToken = found.nextPageToken
  } while (pageToken !== null && items.length < most)
  return { items, hasMore: pageToken !== null }
}

/** Goes to standard error, so that what is piped on is the list alone. */
export function tellIfMore(hasMore: boolean, shown: number): void {
  if (hasMore) console.error(errorColours.dim(`… the first ${shown}; --limit or --all shows more`))
}
