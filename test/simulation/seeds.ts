/** Plays a range of seeds on one engine, one line for each. Ends with status 1 at the first that fails. */
import { openEngineHere } from '../../src/store/pglite-here.js'
import { simulateOn } from '../../src/testing/simulate.js'
import { emptyDatabase } from '../support/empty-database.js'
import { smallSystem } from './small-system.js'

const [first, end] = process.argv.slice(2).map(Number) as [number, number]
const engine = await openEngineHere(await (await emptyDatabase()).arrayBuffer())
for (let seed = first; seed < end; seed++) {
  await engine.empty()
  const { trace, steps, executions, happened } = await simulateOn(engine, smallSystem(seed))
  console.log(seed, trace, steps, executions, JSON.stringify(happened))
}
await engine.close()
