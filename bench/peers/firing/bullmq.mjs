/**
 * So many job schedulers, all due at one instant: how long until each has made its job and that has run, as one makes its next job when
 * a worker takes the one before.
 */
import { Queue, Worker } from 'bullmq'
import Redis from 'ioredis'

const [url, count] = process.argv.slice(2)
const redis = new Redis(url, { maxRetriesPerRequest: null })
await redis.flushall()
const queue = new Queue('noop', { connection: redis })
const LEAD_MS = 1_000 + Number(count)
const startDate = Date.now() + LEAD_MS
const numbers = Array.from({ length: Number(count) }, (_, n) => n)
for (let at = 0; at < numbers.length; at += 100) {
  await Promise.all(
    numbers
      .slice(at, at + 100)
      .map((n) =>
        queue.upsertJobScheduler(
          `customer:${n}`,
          { every: 3_600_000, startDate },
          { name: 'noop', data: { n }, opts: { removeOnComplete: true } },
        ),
      ),
  )
}
if (Date.now() >= startDate) throw new Error('it was due before all were made')
let made = 0
const worker = new Worker(
  'noop',
  async () => {
    made += 1
    if (made < numbers.length) return
    console.log(JSON.stringify({ made, ms: Date.now() - startDate }))
    process.exit()
  },
  { connection: new Redis(url, { maxRetriesPerRequest: null }), concurrency: 500 },
)
worker.on('error', (error) => console.error(error))
