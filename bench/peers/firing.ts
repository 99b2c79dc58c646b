/** How fast the peers fire: schedules that are all due at one instant, and the time until each of them has its job. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '../../test/support/postgres-server.js'
import { inEnglish, middle, spread } from '../figures.js'
import { installPeers, versionOf } from './install.js'
import { redisVersion, startRedis } from './redis-server.js'

const folder = fileURLToPath(new URL('.', import.meta.url))
const CLOCK = fileURLToPath(new URL('../../test/faults/shifted-clock.mjs', import.meta.url))

const MINUTE = 60_000
/** Before the minute ends by which all of its cron items are due. */
const LEAD_MS = 3_000

/** Prints the rate of each, with how many times as fast ours are: what fires only, and what fires and runs as well. */
export async function firePeers(
  { rounds, ours, oursThrough }: { rounds: number; ours: number; oursThrough: number },
  print: (line: string) => void,
): Promise<void> {
  const node = installPeers()
  const postgres = await startPostgres({
    fsync: true,
    settings: ['shared_buffers=4GB', 'max_wal_size=8GB'],
  })
  const redis = redisVersion() === undefined ? undefined : await startRedis('always')

  function rate(name: string, url: string, count: number): number {
    const aheadMs = name === 'graphile-worker' ? 2 * MINUTE - (Date.now() % MINUTE) - LEAD_MS : 0
    const { stdout, stderr } = spawnSync(
      node,
      ['--import', CLOCK, `${folder}firing/${name}.mjs`, url, String(count)],
      {
        encoding: 'utf8',
        env: { ...process.env, NODE_ENV: 'production', CLOCK_AHEAD_MS: String(aheadMs) },
      },
    )
    const { made, ms } = JSON.parse(stdout || '{"made":0}') as { made: number; ms: number }
    if (made !== count) throw new Error(`${name} made ${made} of ${count}: ${stderr}`)
    return made / (ms / 1000)
  }

  function measure(name: string, url: string, count: number, { than, what }: { than: number; what: string }) {
    const rates = Array.from({ length: rounds }, () => rate(name, url, count))
    const ratio = inEnglish(than / middle(rates), 1)
    print(
      `${name} ${versionOf(name)}, ${inEnglish(count)} due: ${spread(rates)}/s ${what}; ours are ${ratio} times as fast`,
    )
  }

  try {
    const firing = { than: ours, what: 'have their job' }
    // The more are due, the fewer it fires in a second: ours have ten times as many.
    measure('graphile-worker', postgres.url, 10_000, firing)
    // It sends fifty a second, by design.
    measure('pg-boss', postgres.url, 250, firing)
    if (redis) {
      measure('bullmq', redis.url, 5_000, {
        than: oursThrough,
        what: 'have their job, and that has run',
      })
    } else {
      print('bullmq: Redis is missing: no redis-server on the PATH.')
    }
  } finally {
    await redis?.remove()
    await postgres.remove()
  }
}
