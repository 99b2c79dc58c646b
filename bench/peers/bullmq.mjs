import { Queue, Worker } from 'bullmq'
import Redis from 'ioredis'
import { serve } from '../contestants/serve.mjs'

const QUEUE = 'noop'
const CONCURRENCY = { backlog: 500, single: 10 }

await serve(async (url) => {
  const redis = new Redis(url, { maxRetriesPerRequest: null })
  const queue = new Queue(QUEUE, { connection: redis })
  const opts = { removeOnComplete: true }
  let worker

  return {
    prepare: () => queue.waitUntilReady(),
    empty: () => redis.flushall(),
    settle: async () => {},
    enqueue: (n) => queue.add('noop', { n }, opts),
    enqueueMany: (numbers) => queue.addBulk(numbers.map((n) => ({ name: 'noop', data: { n }, opts }))),
    async work(handle, load) {
      const connection = new Redis(url, { maxRetriesPerRequest: null })
      worker = new Worker(QUEUE, async ({ data }) => handle(data.n), {
        connection,
        concurrency: CONCURRENCY[load],
      })
      await worker.waitUntilReady()
    },
    async unfinished() {
      const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'prioritized')
      return Object.values(counts).some((count) => count > 0)
    },
    async statements() {
      const stats = await redis.info('commandstats')
      const calls = [...stats.matchAll(/cmdstat_([a-z]+)[^:]*:calls=(\d+)/g)]
      return calls.reduce((sum, [, name, count]) => (name === 'info' ? sum : sum + Number(count)), 0)
    },
    close: async () => worker?.close(true),
  }
})
