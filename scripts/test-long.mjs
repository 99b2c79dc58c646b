// The long proofs in full: what `npm test` runs in a short form. Results are kept, with their dates, in docs/long-runs.md.
// Given file names, it runs only those.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const env = {
  TIME_CASES: '1000000',
  MODEL_RUNS: '3000',
  SIMULATION_SEEDS: '10000',
  SIMULATION_DAYS: '365',
  ...process.env,
  ESCAPEMENT_TEST_LONG: '1',
}
const chosen = process.argv.slice(2)
const files =
  chosen.length > 0
    ? chosen
    : [
        'test/processes/two-processes',
        'test/processes/kill-embedded',
        'test/faults',
        'test/time',
        'test/simulation',
        'test/behaviour',
        'test/processes/package',
      ]
const projects = ['processes', 'postgres', 'postgres-15'].flatMap((name) => ['--project', name])
const args = ['node_modules/vitest/vitest.mjs', 'run', ...projects, '--testTimeout', '7200000', ...files]
const { status } = spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' })
process.exitCode = status ?? 1
