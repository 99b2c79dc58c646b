// Compiles src into dist and copies what the compiler leaves: the migrations.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const at = (path) => `${root}/${path}`

fs.rmSync(at('dist'), { recursive: true, force: true })
const compiler = [at('node_modules/typescript/bin/tsc'), '-p', at('tsconfig.build.json')]
const { status } = spawnSync(process.execPath, compiler, { stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)
fs.cpSync(at('src/store/migrations'), at('dist/store/migrations'), { recursive: true })
fs.chmodSync(at('dist/cli/main.js'), 0o755)
