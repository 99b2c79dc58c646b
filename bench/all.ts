/**
 * The comparisons: the queue beside its peers, firing, what a running system is like, and how fast the peers fire.
 *
 *     npm run bench             installs the peers into bench/peers
 *
 * Each part is a command of its own too: `bench:queue`, `bench:fire`, `bench:running`.
 */
import { benchFire } from './fire.js'
import { firePeers } from './peers/firing.js'
import { benchQueue, FULL as QUEUE } from './queue.js'
import { benchRunning, FULL as RUNNING } from './running.js'

await benchQueue(QUEUE, console.log)
console.log('\n# Firing, out of 1,000,000 schedules\n')
const ours = await benchFire({ schedules: [1_000_000], herds: [100_000], rounds: 5 }, console.log)
console.log('\n# Running\n')
const oursThrough = await benchRunning(RUNNING, console.log)
console.log('\n# Firing of the peers\n')
await firePeers({ rounds: 5, ours, oursThrough }, console.log)
