export { createHarness, type Harness, type HarnessOptions } from './harness.js'
export { createManualClock, type ManualClock } from './manual-clock.js'
export {
  type SimulatedVerbOptions,
  type SimulationEnd,
  type SimulationOptions,
  type SimulationReport,
  simulate,
} from './simulate.js'
export { SimulationFailure } from './simulation/failure.js'
export type { FaultRates } from './simulation/faults.js'
export type { Define, ProcessOptions, SimulatedHost } from './simulation/process.js'
export { type Act, randomVerbs } from './simulation/verbs.js'
export type { Execution } from './simulation/witness.js'
