import { expect, it, onTestFinished } from 'vitest'
import { type Clock, databaseClock } from '../../src/clock.js'
import { createEscapement } from '../../src/index.js'
import { sharedDatabase } from '../support/database.js'
import { useSchema } from '../support/schema.js'

/** Whoever sleeps by it sleeps until he is woken. */
const ENDLESS: Clock = {
  ...databaseClock,
  sleep: (_ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve())
    }),
}

async function open() {
  const schema = await useSchema()
  const escapement = await createEscapement({ database: await sharedDatabase(), schema, clock: ENDLESS })
  onTestFinished(() => escapement.close())
  return escapement
}

/** Nobody else tells the worker that another may begin: neither the database nor the time. */
it('a worker with places left is woken by the end of the run that a limit held others back for', async () => {
  const escapement = await open()
  const began: unknown[] = []
  const all = new Promise<void>((resolve) => {
    escapement.job('alone', {
      concurrency: 1,
      async handler({ input }) {
        began.push(input)
        await new Promise((done) => setTimeout(done, 20))
        if (began.length === 3) resolve()
      },
    })
  })
  for (const input of [1, 2, 3]) await escapement.runs.enqueue('alone', input)
  await escapement.start({ roles: ['worker'] })
  await all
  // Those of one millisecond stand in line by their ids.
  expect(began.toSorted()).toEqual([1, 2, 3])
})

it('a worker that has nothing to do begins with each run that another process tells it of, whatever its limits', async () => {
  const schema = await useSchema()
  const options = { database: await sharedDatabase(), schema, clock: ENDLESS }
  const worker = await createEscapement(options)
  const client = await createEscapement(options)
  onTestFinished(async () => {
    await client.close()
    await worker.close()
  })
  let begin = (_: unknown) => {}
  const handler = ({ input }: { input: unknown }) => begin(input)
  worker.job('free', { handler })
  worker.job('limited', { concurrency: 1, handler })
  await worker.start({ roles: ['worker'] })
  for (const [index, job] of ['free', 'free', 'limited', 'free', 'limited'].entries()) {
    const begun = new Promise((resolve) => {
      begin = resolve
    })
    await client.runs.enqueue(job, index)
    expect(await begun).toBe(index)
  }
})
