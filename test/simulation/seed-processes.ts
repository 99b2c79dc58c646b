import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const SCRIPT = fileURLToPath(new URL('./seeds.ts', import.meta.url))
/** One process plays as many: its memory is given back when it ends. */
const SEEDS_PER_PROCESS = 250

/** Plays seeds in so many processes at once; rejects with what the first one says that fails. */
export async function playSeeds({
  first,
  count,
  processes,
}: {
  first: number
  count: number
  processes: number
}): Promise<void> {
  let next = first
  const end = first + count
  const work = async () => {
    while (next < end) {
      const from = next
      next = Math.min(end, from + SEEDS_PER_PROCESS)
      await playRange(from, next)
    }
  }
  await Promise.all(Array.from({ length: processes }, work))
}

function playRange(from: number, end: number): Promise<void> {
  const args = ['--import', 'jiti/register', SCRIPT, String(from), String(end)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => (status === 0 ? resolve() : reject(new Error(said))))
  })
}
