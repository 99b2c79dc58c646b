// The one gate: format, lint, types, unused code, what is packed, and all tests. Prints the seconds of each part, and ends
// with one line that counts the tests. It installs what it needs beyond `npm ci`.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const bin = (name) => path.join(root, 'node_modules', '.bin', name)
const results = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-check-')), 'vitest.json')

const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
const PARTS = [
  ['integration packages', npm, ['ci', '--prefix', 'test/integrations', '--no-audit', '--no-fund']],
  ['build', process.execPath, ['scripts/build.mjs']],
  ['format and lint', bin('biome'), ['ci', '--error-on-warnings', '.']],
  ['types', bin('tsc'), ['--noEmit']],
  ['types of the dashboard', bin('tsc'), ['--noEmit', '-p', 'dashboard']],
  ['unused code', bin('knip'), []],
  ['package', process.execPath, ['scripts/check-package.mjs']],
  ['tests', bin('vitest'), ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${results}`]],
]

const seconds = []
let failed = false
for (const [name, command, args] of PARTS) {
  console.log(`\n── ${name}`)
  const startedAt = performance.now()
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  seconds.push([name, (performance.now() - startedAt) / 1000, status === 0])
  failed ||= status !== 0
}

console.log('\n── seconds')
for (const [name, taken, ok] of seconds) {
  console.log(`${taken.toFixed(1).padStart(7)}  ${name}${ok ? '' : '  FAILED'}`)
}
if (fs.existsSync(results)) {
  const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(fs.readFileSync(results, 'utf8'))
  const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : ''
  console.log(`\n${numPassedTests} passed, ${numFailedTests} failed${skipped}`)
}
process.exitCode = failed ? 1 : 0
