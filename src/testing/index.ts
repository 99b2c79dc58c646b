export { createHarness, type Harness, type HarnessOptions } from './harness.js'
export { createManualClock, type ManualClock } from './manual-clock.js'
