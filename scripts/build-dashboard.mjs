// Bundles the dashboard into dist/dashboard, and compresses its files once for all who will ask for them.
import fs from 'node:fs'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'vite'

const source = fileURLToPath(new URL('../dashboard', import.meta.url))
const target = fileURLToPath(new URL('../dist/dashboard', import.meta.url))

process.env.NODE_ENV = 'production'
await build({ root: source, configFile: `${source}/vite.config.ts`, logLevel: 'warn' })

for (const name of fs.readdirSync(`${target}/assets`)) {
  const file = `${target}/assets/${name}`
  const plain = fs.readFileSync(file)
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
  fs.writeFileSync(`${file}.br`, brotliCompressSync(plain, { params }))
  fs.writeFileSync(`${file}.gz`, gzipSync(plain, { level: constants.Z_BEST_COMPRESSION }))
}
