/** Which attempts are to fail, computed from the seed apart from the processes: `node-process.mjs` has its own. */
import { createHash } from 'node:crypto'

const DOOMED = 0.7

/** Whether a run of the job `doomed` is one whose handler throws. */
export function isFated(seed: number, run: string, stream: 'doomed'): boolean {
  const digest = createHash('sha256').update([seed, run, stream].join('|')).digest()
  return digest.readUInt32BE(0) / 2 ** 32 < DOOMED
}
