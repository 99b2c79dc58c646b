// Compiles src into dist, takes away declarations that nobody can import, and adds what the compiler leaves: the
// migrations, and an empty embedded database.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'

const root = fileURLToPath(new URL('..', import.meta.url))
const at = (path) => `${root}/${path}`

// The dashboard is built apart.
for (const name of fs.existsSync(at('dist')) ? fs.readdirSync(at('dist')) : []) {
  if (name !== 'dashboard') fs.rmSync(at(`dist/${name}`), { recursive: true, force: true })
}
const compiler = [at('node_modules/typescript/bin/tsc'), '-p', at('tsconfig.build.json')]
const { status } = spawnSync(process.execPath, compiler, { stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)
removeUnreachableDeclarations()
fs.cpSync(at('src/store/migrations'), at('dist/store/migrations'), { recursive: true })
fs.chmodSync(at('dist/cli/main.js'), 0o755)

// An empty embedded database, so that a new one starts without initdb.
const { openPGlite } = await import('../dist/store/pglite.js')
const database = await openPGlite()
// Two thirds of its files are of databases from which others would be copied, and nobody can connect to another.
await database.query('update pg_database set datistemplate = false')
for (const name of ['template0', 'template1']) await database.query(`drop database ${name}`)
await database.query('vacuum (full, analyze)')
await database.query('checkpoint')
const archive = Buffer.from(await (await database.dump()).arrayBuffer())
await database.close()
// A large window: most of its pages repeat the same catalogue.
const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24 }
fs.writeFileSync(at('dist/store/empty-database.tar.br'), brotliCompressSync(archive, { params }))

/** Two of three declarations are of parts that no export mentions, and no type of an export either. */
function removeUnreachableDeclarations() {
  const reached = new Set()
  const reach = (file) => {
    if (reached.has(file)) return
    reached.add(file)
    for (const [, name] of fs.readFileSync(file, 'utf8').matchAll(/['"](\.{1,2}\/[^'"]+)\.js['"]/g)) {
      reach(path.resolve(path.dirname(file), `${name}.d.ts`))
    }
  }
  const { exports } = JSON.parse(fs.readFileSync(at('package.json'), 'utf8'))
  for (const { types } of Object.values(exports)) if (types) reach(path.resolve(root, types))
  for (const name of fs.readdirSync(at('dist'), { recursive: true })) {
    const file = path.resolve(root, 'dist', name)
    if (file.endsWith('.d.ts') && !reached.has(file)) fs.rmSync(file)
  }
}
