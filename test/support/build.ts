import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

let done = false

/** Tests that start processes, or the embedded database, use what the build makes: it is made when a source is newer. */
export default function setup(): void {
  if (done) return
  done = true
  const built = fs.statSync(path.join(root, 'dist/cli/main.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const changed = fs
    .readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .some((file) => fs.statSync(path.join(root, 'src', file)).mtimeMs > built)
  if (changed) execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' })
}
