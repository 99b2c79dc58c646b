/**
 * What the dashboard waits for, in a database as large users have it: every call of the API that a page makes, asked over HTTP of a
 * server in a process of its own, and every page opened in a real Chromium.
 *
 *     npm run bench:dashboard                 1,000,000 schedules and 5,000,000 runs; filled in some minutes
 *     npm run bench:dashboard -- --keep DIR   leaves the filled database there, and takes it up again for twelve hours
 *     npm run bench:dashboard -- --plans      writes docs/dashboard-plans.md instead
 *     npm run bench:dashboard -- --calls      only the calls, or with --pages only the pages
 *     npm run bench:dashboard -- --rounds 3   of the calls, instead of twenty
 *     npm run bench:dashboard -- --quick      a hundredth of all
 *
 * PostgreSQL from npm, fsync and synchronous_commit on, shared_buffers 1 GB, started anew before the first call. It ends with 1 where a
 * call's median is over 150 ms, or a page's over a second, or a first load over 250 kB.
 */
import { parseArgs } from 'node:util'
import { benchCalls } from './dashboard/asking.js'
import { callsOf } from './dashboard/calls.js'
import { openFilled, startServer } from './dashboard/database.js'
import type { FillSize } from './dashboard/fill.js'
import { benchPages } from './dashboard/pages.js'
import { writePlans } from './dashboard/plans.js'

const FULL: FillSize = { schedules: 1_000_000, runs: 5_000_000, busy: 100_000, posts: 1_000_000 }
const QUICK: FillSize = { schedules: 10_000, runs: 50_000, busy: 1_000, posts: 10_000 }

const { values: options } = parseArgs({
  options: {
    keep: { type: 'string' },
    rounds: { type: 'string', default: '20' },
    quick: { type: 'boolean', default: false },
    calls: { type: 'boolean', default: false },
    pages: { type: 'boolean', default: false },
    plans: { type: 'boolean', default: false },
  },
})
const isAll = !options.calls && !options.pages && !options.plans

const size = options.quick ? QUICK : FULL
const database = await openFilled(size, options.keep, (line) => console.error(line))
const overBudget: string[] = []
try {
  if (options.plans) await writePlans(database)
  if (options.calls || isAll) {
    // Nothing is in the server's own memory any more, but may be in the operating system's.
    await database.server.restart()
    const server = await startServer(database.server.url)
    overBudget.push(
      ...(await benchCalls(server, callsOf(database.known), Number(options.rounds), console.log)),
    )
    await server.close()
  }
  if (options.pages || isAll) {
    const server = await startServer(database.server.url)
    overBudget.push(...(await benchPages(server, database.known, console.log)))
    await server.close()
  }
} finally {
  await database.close()
}
for (const line of overBudget) console.error(`Over budget: ${line}`)
process.exitCode = overBudget.length > 0 ? 1 : 0
