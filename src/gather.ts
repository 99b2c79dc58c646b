/**
 * Writes what many callers hand in, in batches that fill while the previous one is under way: an idle writer's item
 * goes out at once, those of a busy one share a statement, and nobody waits for a timer.
 */
export interface Gatherer<Item, Result> {
  /** Resolves with what became of it once that is durable. */
  write(item: Item): Promise<Result>
  /** Resolves when nothing is left to write. */
  idle(): Promise<void>
}

export interface GathererParts<Item, Result> {
  /** The results in the order of the items. */
  writeBatch(items: readonly Item[]): Promise<readonly Result[]>
  /** Whether an error may be the doing of one item: then the batch is halved until that one stands alone. */
  isDivisible(error: unknown): boolean
  /** @default no limit */
  largestBatch?: number
}

interface Waiting<Item, Result> {
  item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

export function createGatherer<Item, Result>(parts: GathererParts<Item, Result>): Gatherer<Item, Result> {
  const { writeBatch, isDivisible, largestBatch = Number.POSITIVE_INFINITY } = parts
  let waiting: Waiting<Item, Result>[] = []
  let writing: Promise<void> | undefined

  async function writeAll(): Promise<void> {
    // Those that come at the same moment go together: the first one alone would make all others wait for its commit.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const batch = waiting.slice(0, largestBatch)
      waiting = waiting.slice(largestBatch)
      await write(batch)
    }
    writing = undefined
  }

  async function write(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await writeBatch(batch.map(({ item }) => item))
      batch.forEach(({ resolve }, index) => {
        resolve(results[index]!)
      })
    } catch (error) {
      if (batch.length === 1 || !isDivisible(error)) {
        for (const { reject } of batch) reject(error)
        return
      }
      const middle = Math.ceil(batch.length / 2)
      await write(batch.slice(0, middle))
      await write(batch.slice(middle))
    }
  }

  return {
    write: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        writing ??= writeAll()
      }),
    idle: async () => writing,
  }
}
