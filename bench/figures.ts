/** How the benches measure, and how they write down what they measured. */
import fs from 'node:fs'

interface Queryable {
  query<Row>(text: string): Promise<Row[]>
}

export async function seconds(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1000
}

/** The milliseconds of each round. */
export async function measure(rounds: number, work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) times.push((await seconds(work)) * 1000)
  return times
}

/** The value below which such a share of all lies; NaN where there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** The median. */
export function middle(values: readonly number[]): number {
  return percentile(values, 0.5)
}

/** The median, and between which ends all values lie. */
export function spread(values: readonly number[], digits = 0): string {
  const [low, high] = [percentile(values, 0), percentile(values, 1)]
  return `${inEnglish(middle(values), digits)} (${inEnglish(low, digits)}–${inEnglish(high, digits)})`
}

export function inEnglish(value: number, digits = 0): string {
  return value.toLocaleString('en', { maximumFractionDigits: digits })
}

/** Lines of a plan that a page shows when they are asked for, in Markdown. */
export function folded(summary: string, lines: readonly string[]): string[] {
  return ['', `<details><summary>${summary}</summary>`, '', '```', ...lines, '```', '', '</details>']
}

export async function number(database: Queryable, text: string): Promise<number> {
  const [row] = await database.query<{ value: number }>(text)
  return row!.value
}

/** Bytes of WAL that the server has ever written. */
export function walPosition(database: Queryable): Promise<number> {
  return number(database, `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as value`)
}

/** What a server and all its processes have used, those that ended too: on a busy machine it says more than a rate. */
export function cpuSeconds(postmaster: number): number {
  if (process.platform !== 'linux') return Number.NaN
  let ticks = 0
  for (const pid of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const stat = readStat(pid)
    if (pid === String(postmaster)) ticks += Number(stat[15]) + Number(stat[16])
    else if (stat[3] === String(postmaster)) ticks += Number(stat[13]) + Number(stat[14])
  }
  return ticks / 100
}

/** The fields of /proc/<pid>/stat, as proc(5) counts them from 0; none for a process that has just ended. */
function readStat(pid: string): string[] {
  try {
    return fs
      .readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/\(.*\)/, '-')
      .split(' ')
  } catch {
    return []
  }
}
