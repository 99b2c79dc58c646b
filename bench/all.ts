/**
 * The comparisons: the queue beside its peers, firing, what a running system is like, and how fast the peers fire.
 *
 *     npm run bench             installs the peers into bench/peers; less than twenty minutes
 *
 * Each part is a command of its own too: `bench:queue`, `bench:fire`, `bench:running`.
 */
import { inEnglish, seconds } from './figures.js'
import { benchFire } from './fire.js'
import { firePeers } from './peers/firing.js'
import { benchQueue, FULL as QUEUE } from './queue.js'
import { benchRunning, FULL as RUNNING } from './running.js'

let minutes = 0

async function part<Result>(title: string, work: () => Promise<Result>): Promise<Result> {
  console.log(`\n# ${title}\n`)
  let result!: Result
  const taken = await seconds(async () => {
    result = await work()
  })
  minutes += taken / 60
  console.log(`\n${title}: ${inEnglish(taken / 60, 1)} minutes`)
  return result
}

await part('Queue', () => benchQueue(QUEUE, console.log))
const ours = await part('Firing, out of 1,000,000 schedules', () =>
  benchFire({ schedules: [1_000_000], herds: [100_000], rounds: 5 }, console.log),
)
const oursThrough = await part('Running', () => benchRunning(RUNNING, console.log))
await part('Firing of the peers', () => firePeers({ rounds: 5, ours, oursThrough }, console.log))
console.log(`\nAll of it took ${inEnglish(minutes, 1)} minutes`)
