/**
 * What the dashboard waits for, in a database as large users have it: every call of the API that a page makes, asked over HTTP of a
 * server in a process of its own, and every page opened in a real Chromium.
 *
 *     npm run bench:dashboard                 1,000,000 schedules and 5,000,000 runs; filled in some minutes
 *     npm run bench:dashboard -- --keep DIR   leaves the filled database there, and takes it up again for twelve hours
 *     npm run bench:dashboard -- --plans      writes docs/dashboard-plans.md instead
 *     npm run bench:dashboard -- --calls      only the calls, or with --pages only the pages
 *     npm run bench:dashboard -- --quick      a hundredth of all
 *
 * PostgreSQL from npm, fsync and synchronous_commit on, shared_buffers 1 GB, started anew before the first call. It ends with 1 where a
 * call's median is over 150 ms, or a page's over a second, or a first load over 250 kB.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type Call, callsOf, type PageOfCalls } from './dashboard/calls.js'
import { openFilled, type RunningServer, startServer } from './dashboard/database.js'
import type { FillSize } from './dashboard/fill.js'
import { benchPages } from './dashboard/pages.js'
import { writePlans } from './dashboard/plans.js'
import { inEnglish } from './figures.js'

const FULL: FillSize = { schedules: 1_000_000, runs: 5_000_000, busy: 100_000, posts: 1_000_000 }
const QUICK: FillSize = { schedules: 10_000, runs: 50_000, busy: 1_000, posts: 10_000 }

const ROUNDS = 20
/** What took long is given again for five seconds: rounds begin farther apart, so that each answer is a new one. */
const ROUND_MS = 5_200
const BUDGET_MS = 150

const { values: options } = parseArgs({
  options: {
    keep: { type: 'string' },
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
    overBudget.push(...(await benchCalls(server, callsOf(database.known))))
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

/** Prints a table by page. Returns those that take too long. */
async function benchCalls(server: RunningServer, pages: readonly PageOfCalls[]): Promise<string[]> {
  const all = pages.flatMap(({ calls }) => calls)
  const times = new Map<Call, number[]>(all.map((call) => [call, []]))
  const bytes = new Map<Call, number>()
  for (let round = 0; round <= ROUNDS; round++) {
    const rest = pause(ROUND_MS)
    for (const call of all) {
      const { ms, length } = await ask(server, call)
      times.get(call)!.push(ms)
      bytes.set(call, length)
    }
    await rest
  }
  const slow: string[] = []
  console.log(
    '| page | call | first | median | p95 | worst | kB |\n| --- | --- | --- | --- | --- | --- | --- |',
  )
  for (const { page, calls } of pages) {
    for (const call of calls) {
      const [first, ...warm] = times.get(call)!
      const sorted = warm.sort((a, b) => a - b)
      const figures = [first!, at(sorted, 0.5), at(sorted, 0.95), sorted.at(-1)!].map((ms) =>
        inEnglish(ms, 1),
      )
      console.log(`| ${[page, call.what, ...figures, inEnglish(bytes.get(call)! / 1024, 1)].join(' | ')} |`)
      if (at(sorted, 0.5) > BUDGET_MS) slow.push(`${page}: ${call.what}, ${figures[1]} ms`)
    }
  }
  return slow
}

const at = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)]!

async function ask(
  { url, token }: RunningServer,
  { path, body }: Call,
): Promise<{ ms: number; length: number }> {
  const startedAt = performance.now()
  const response = await fetch(`${url}/api/v1${path}`, {
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${text}`)
  return { ms: performance.now() - startedAt, length: text.length }
}
