/**
 * A job, a schedule in a time zone, when it runs next, and one run of it.
 *
 *     npm run example:quick-start
 */
import { createEscapement, cron } from 'escapement'

// Without DATABASE_URL on PGlite, in memory. Leave `database` out, and the data stay in ./.escapement.
const escapement = await createEscapement({ database: process.env.DATABASE_URL ?? 'memory:' })

const sendReport = escapement.job('send-report', {
  handler: ({ input, run }) => `report for ${input}, asked for by ${run.trigger}`,
})

await escapement.schedules.put('report:acme', {
  job: sendReport,
  input: 'acme',
  timing: cron('0 9 * * MON-FRI', { zone: 'America/New_York' }),
})
await escapement.start()

// The clocks change on the 10th of March: 09:00 stays 09:00.
const { description, occurrences } = await escapement.schedules.preview('report:acme', {
  after: '2030-03-07T00:00:00-05:00',
  count: 3,
})
console.log(description)
for (const { planTime } of occurrences) console.log(planTime)

// Monday is far away: run it now.
const done = new Promise<string>((resolve) => {
  escapement.on('run.succeeded', ({ runId }) => resolve(runId))
})
await escapement.schedules.trigger('report:acme')
const { state, result } = await escapement.runs.get(await done)
console.log(`${state}: ${result}`)

await escapement.close()
