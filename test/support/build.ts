import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** What is made, by which script, and of what. */
const BUILDS = [
  { made: 'dist/cli/main.js', script: 'scripts/build-code.mjs', sources: ['src'] },
  {
    made: 'dist/dashboard/index.html',
    script: 'scripts/build-dashboard.mjs',
    sources: ['dashboard', 'src/errors.ts', 'src/http-client', 'src/time', 'scripts/build-dashboard.mjs'],
  },
]

let done = false

/** Tests that start processes, browsers, or the embedded database, use what the builds make: it is made when a source is newer. */
export default function setup(): void {
  if (done) return
  done = true
  for (const { made, script, sources } of BUILDS) {
    const madeAt = changedAt(made)
    if (sources.flatMap(filesOf).some((file) => changedAt(file) > madeAt)) {
      execFileSync(process.execPath, [script], { cwd: root, stdio: 'inherit' })
    }
  }
}

function filesOf(source: string): string[] {
  if (!fs.statSync(path.join(root, source)).isDirectory()) return [source]
  const files = fs.readdirSync(path.join(root, source), { recursive: true, encoding: 'utf8' })
  return files.map((file) => path.join(source, file))
}

function changedAt(file: string): number {
  return fs.statSync(path.join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0
}
