import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const SCRIPT = fileURLToPath(new URL('./seeds.ts', import.meta.url))
/** One process plays as many: its memory is given back when it ends. */
const SEEDS_PER_PROCESS = 250

/** Plays seeds in so many processes at once, and says so; rejects with what the first one says that fails. The traces, by seed. */
export async function playSeeds({
  first,
  count,
  processes,
}: {
  first: number
  count: number
  processes: number
}): Promise<Map<number, string>> {
  const traces = new Map<number, string>()
  let next = first
  const end = first + count
  const work = async () => {
    while (next < end) {
      const from = next
      next = Math.min(end, from + SEEDS_PER_PROCESS)
      for (const [seed, trace] of await playRange(from, next)) traces.set(seed, trace)
      console.log(`${new Date().toISOString()} ${traces.size} of ${count} seeds`)
    }
  }
  await Promise.all(Array.from({ length: processes }, work))
  return traces
}

function playRange(from: number, end: number): Promise<[number, string][]> {
  const args = ['--import', 'jiti/register', SCRIPT, String(from), String(end)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let [lines, said] = ['', '']
  child.stdout.on('data', (chunk) => {
    lines += chunk
  })
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => (status === 0 ? resolve(readTraces(lines)) : reject(new Error(said))))
  })
}

function readTraces(lines: string): [number, string][] {
  return [...lines.matchAll(/^(\d+) ([0-9a-f]{64}) /gm)].map(([, seed, trace]) => [Number(seed), trace!])
}
