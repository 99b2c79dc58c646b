import type { WorkerHere } from '../../src/scheduler/tick.js'

/** For schedulers in whose process nobody works. */
export const noWorker: WorkerHere = {
  beginning: () => [],
  isAtRest: () => false,
  offer: () => null,
  expectLots() {},
}
