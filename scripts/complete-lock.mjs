// Completes package-lock.json after `npm install`. npm leaves out optional packages of other platforms when the
// registry at hand does not have them (mirrors often keep only some), and `npm ci` then refuses the whole file. Each
// of them has the version that its parent pins, and its platform is in its name.
import fs from 'node:fs'

const PLATFORMS = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32']
const PROCESSORS = ['arm64', 'arm', 'ia32', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64']

const file = process.argv[2] ?? 'package-lock.json'
const lock = JSON.parse(fs.readFileSync(file, 'utf8'))
let added = 0
for (const parent of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const place = `node_modules/${name}`
    if (lock.packages[place] || !/^\d/.test(version)) continue
    const words = name.split(/[/-]/)
    const platform = PLATFORMS.filter((word) => words.includes(word))
    const processor = PROCESSORS.filter((word) => words.includes(word))
    if (processor.length !== 1) throw new Error(`${name}: which platform is it for?`)
    lock.packages[place] = {
      version,
      cpu: processor,
      ...(parent.dev && { dev: true }),
      ...(words.includes('musl') && { libc: ['musl'] }),
      ...(words.includes('gnu') && { libc: ['glibc'] }),
      optional: true,
      ...(platform.length > 0 && { os: platform }),
    }
    added += 1
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)))
fs.writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
console.log(`${file}: ${added} added`)
