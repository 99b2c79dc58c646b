// What would be published: its size and its files, and what publint and attw say of it. Needs a build.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** A tenth more than it has. Who needs more raises them, and so sees it. */
const LIMITS = { size: 2_450_000, unpackedSize: 4_500_000, files: 780 }

/** Nothing else belongs into it. */
const WANTED = [
  /^(?:package\.json|README\.md|CHANGELOG\.md|LICENSE)$/,
  /^dist\/(?!dashboard\/).*(?<!\.test)\.js$/,
  /^dist\/(?!dashboard\/|cli\/).*(?<!\.test)\.d\.ts$/,
  /^dist\/store\/migrations\/\d{4}_[a-z_]+\.sql$/,
  /^dist\/store\/empty-database\.tar\.br$/,
  /^dist\/dashboard\/index\.html$/,
  /^dist\/dashboard\/assets\/[\w-]+\.(?:js|css|svg)(?:\.br|\.gz)?$/,
]

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-package-'))
try {
  const packed = pack(folder)
  const megabytes = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`
  console.log(
    `${megabytes(packed.size)} packed, ${megabytes(packed.unpackedSize)} unpacked, ${packed.files.length} files`,
  )
  const mistakes = [...tooLarge(packed), ...unwanted(packed), ...missing(packed)]
  for (const mistake of mistakes) console.error(mistake)
  const linted = [
    run('publint', ['--strict', packed.tarball]),
    run('attw', [packed.tarball, '--profile', 'esm-only', '--no-definitely-typed']),
  ]
  process.exitCode = mistakes.length === 0 && linted.every((ok) => ok) ? 0 : 1
} finally {
  fs.rmSync(folder, { recursive: true, force: true })
}

function pack(destination) {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  // As it was built: what npm runs before would print into the answer.
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', destination]
  const { status, stdout, stderr } = spawnSync(npm, args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm pack failed: ${stderr}`)
  const [{ filename, size, unpackedSize, files }] = JSON.parse(stdout)
  return {
    tarball: path.join(destination, filename),
    size,
    unpackedSize,
    files: files.map((file) => file.path),
  }
}

function tooLarge({ size, unpackedSize, files }) {
  const figures = { size, unpackedSize, files: files.length }
  return Object.entries(figures)
    .filter(([name, figure]) => figure > LIMITS[name])
    .map(
      ([name, figure]) =>
        `${name}: ${figure} is more than ${LIMITS[name]}, the limit in scripts/check-package.mjs`,
    )
}

function unwanted({ files }) {
  return files
    .filter((file) => !WANTED.some((pattern) => pattern.test(file)))
    .map((file) => `${file}: is not needed in the package`)
}

/** What package.json points to, and what the code reads beside itself. */
function missing({ files }) {
  const { exports, bin } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
  const targets = Object.values(exports).flatMap((target) => Object.values({ ...wrapped(target) }))
  const migrations = fs.readdirSync(path.join(root, 'src/store/migrations'))
  const needed = [
    ...[...targets, ...Object.values(bin)].map((target) => path.posix.normalize(target)),
    ...migrations.map((name) => `dist/store/migrations/${name}`),
    'dist/store/empty-database.tar.br',
    'dist/store/pglite-thread.js',
    'dist/dashboard/index.html',
  ]
  return needed.filter((file) => !files.includes(file)).map((file) => `${file}: is missing in the package`)
}

function wrapped(target) {
  return typeof target === 'string' ? { target } : target
}

/** Both say a lot where nothing is wrong. */
function run(name, args) {
  const { status, stdout, stderr } = spawnSync(path.join(root, 'node_modules/.bin', name), args, {
    encoding: 'utf8',
  })
  console.log(status === 0 ? `${name} has no objection` : `${stdout}${stderr}`)
  return status === 0
}
