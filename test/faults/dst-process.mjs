/**
 * Goes through some hours of a day by a clock that it moves itself. Its first argument holds, as JSON: `dist`, `database`, `schema`,
 * `at` (where the clock stands), `hours` (how far it goes) and `schedules` (by name, cron expressions with what they are given).
 */
import { pathToFileURL } from 'node:url'

process.on('disconnect', () => process.exit(1))
const { dist, database, schema, at, hours, schedules } = JSON.parse(process.argv[2])
const { cron } = await import(pathToFileURL(`${dist}/index.js`).href)
const { createHarness } = await import(pathToFileURL(`${dist}/testing/index.js`).href)
const harness = await createHarness({ at, database, schema })
harness.job('noop', { handler: () => {} })
const definitions = Object.entries(schedules).map(([name, { expression, ...options }]) => [
  name,
  { job: 'noop', timing: cron(expression, options), catchUp: 'all' },
])
await harness.schedules.sync(Object.fromEntries(definitions))
process.send({ begun: true })
await harness.advance({ hours })
process.send({ done: true })
await harness.close()
process.exit(0)
