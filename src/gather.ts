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
  /**
   * Whether an error may be the doing of one item: then the batch is halved until that one stands alone, beside the
   * batches of those that came later.
   */
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
  /** One division at a time: refused batches take no more connections than one. */
  let dividing: Promise<void> = Promise.resolve()

  async function writeAll(): Promise<void> {
    // Those that come at the same moment go together: the first one alone would make all others wait for its commit.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const batch = waiting.slice(0, largestBatch)
      waiting = waiting.slice(largestBatch)
      if (await isRefused(batch)) dividing = dividing.then(() => divide(batch))
    }
    writing = undefined
  }

  /** Whether a batch is to be divided: else each of it has had its answer. */
  async function isRefused(batch: readonly Waiting<Item, Result>[]): Promise<boolean> {
    try {
      const results = await writeBatch(batch.map(({ item }) => item))
      batch.forEach(({ resolve }, index) => {
        resolve(results[index]!)
      })
      return false
    } catch (error) {
      if (batch.length > 1 && isDivisible(error)) return true
      for (const { reject } of batch) reject(error)
      return false
    }
  }

  async function divide(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    const middle = Math.ceil(batch.length / 2)
    for (const half of [batch.slice(0, middle), batch.slice(middle)]) {
      if (await isRefused(half)) await divide(half)
    }
  }

  return {
    write: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        writing ??= writeAll()
      }),
    async idle() {
      await writing
      await dividing
    },
  }
}
