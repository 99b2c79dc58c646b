/** Every call of every page over HTTP: once after the database was started, and then twenty times more, in turns. */
import { setTimeout as pause } from 'node:timers/promises'
import { inEnglish } from '../figures.js'
import type { Call, PageOfCalls } from './calls.js'
import type { RunningServer } from './database.js'

/** What took long is given again for five seconds: rounds begin farther apart, so that each answer is a new one. */
const ROUND_MS = 5_200
const BUDGET_MS = 150

/** Prints a table by page. Returns those that take too long. */
export async function benchCalls(
  server: RunningServer,
  pages: readonly PageOfCalls[],
  rounds: number,
  print: (line: string) => void,
): Promise<string[]> {
  const all = pages.flatMap(({ calls }) => calls)
  const times = new Map<Call, number[]>(all.map((call) => [call, []]))
  const bytes = new Map<Call, number>()
  const problems = new Map<Call, string>()
  for (let round = 0; round <= rounds; round++) {
    const rest = pause(ROUND_MS)
    for (const call of all) {
      const { ms, length, problem } = await ask(server, call)
      if (problem !== null) problems.set(call, problem)
      times.get(call)!.push(ms)
      bytes.set(call, length)
    }
    await rest
  }
  const slow: string[] = []
  print('| page | call | first | median | p95 | worst | kB |\n| --- | --- | --- | --- | --- | --- | --- |')
  for (const { page, calls } of pages) {
    for (const call of calls) {
      const [first, ...warm] = times.get(call)!
      const sorted = warm.sort((a, b) => a - b)
      const figures = [first!, at(sorted, 0.5), at(sorted, 0.95), sorted.at(-1)!].map((ms) =>
        inEnglish(ms, 1),
      )
      print(`| ${[page, call.what, ...figures, inEnglish(bytes.get(call)! / 1024, 1)].join(' | ')} |`)
      const problem = problems.get(call)
      if (problem !== undefined) slow.push(`${page}: ${call.what}, ${problem}`)
      if (at(sorted, 0.5) > BUDGET_MS && !call.isWork) slow.push(`${page}: ${call.what}, ${figures[1]} ms`)
    }
  }
  return slow
}

const at = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)]!

async function ask(
  { url, token }: RunningServer,
  { path, body }: Call,
): Promise<{ ms: number; length: number; problem: string | null }> {
  const startedAt = performance.now()
  const response = await fetch(`${url}/api/v1${path}`, {
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const problem = response.ok ? null : `answered with ${response.status}: ${text}`
  return { ms: performance.now() - startedAt, length: text.length, problem }
}
