/** Plays a range of seeds on one engine, one line for each. Ends with status 1 at the first that fails. */
import { openEngineHere } from '../../src/store/pglite-here.js'
import { simulateOn } from '../../src/testing/simulate.js'
import { emptyDatabase } from '../support/empty-database.js'
import { smallSystem } from './small-system.js'

/** The memory of the engine never shrinks. */
const SEEDS_PER_ENGINE = 200

const [first, end] = process.argv.slice(2).map(Number) as [number, number]
for (let from = first; from < end; from += SEEDS_PER_ENGINE) {
  const engine = await openEngineHere(await (await emptyDatabase()).arrayBuffer())
  for (let seed = from; seed < Math.min(end, from + SEEDS_PER_ENGINE); seed++) {
    await engine.empty()
    const { trace, steps, executions, happened } = await simulateOn(engine, smallSystem(seed))
    console.log(seed, trace, steps, executions, JSON.stringify(happened))
  }
  await engine.close()
}
