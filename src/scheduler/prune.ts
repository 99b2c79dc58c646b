import { pruneRuns, type Retention } from '../store/queries/pruning.js'
import type { Store } from '../store/store.js'

/** Small, so that nobody waits for long behind it. */
const BATCH = 1_000

/** Deletes ended runs that are older than they are to be kept, a batch at each step. */
export async function* prune(store: Store, retention: Retention): AsyncGenerator<string[], void> {
  while ((await pruneRuns(store, retention, BATCH)) >= BATCH) yield []
}
