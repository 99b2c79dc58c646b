// Publishes a version: npm run release -- 1.2.0 shows what is in the way and what would be run; with --publish it is run.
// npm signs where the package was built (provenance), which needs a build machine that can prove what it is: it gives npm a token
// of OpenID Connect, and the package names the repository that it is built from.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const at = (file) => `${root}/${file}`
const VERSION = /^(\d+)\.(\d+)\.(\d+)(?:-([a-z]+)\.(\d+))?$/

const [version = '', ...flags] = process.argv.slice(2)
const isReal = flags.includes('--publish')
const manifest = JSON.parse(fs.readFileSync(at('package.json'), 'utf8'))
const [, , , , channel] = VERSION.exec(version) ?? []
// Who asks for no version gets none that is not finished.
const tag = channel === undefined ? 'latest' : 'next'

const STEPS = [
  ['npm', ['ci']],
  ['npm', ['test']],
  ['npm', ['run', 'test:package']],
  ['npm', ['version', version, '--no-git-tag-version', '--allow-same-version']],
  [dateChangelog, `CHANGELOG.md: "Unreleased" becomes "${version}", with the date`],
  ['git', ['commit', '--all', '--message', `release ${version}`]],
  ['git', ['tag', '--annotate', `v${version}`, '--message', `Escapement ${version}`]],
  ['node', ['scripts/check-package.mjs']],
  ['npm', ['publish', '--provenance', '--access', 'public', '--tag', tag]],
  ['git', ['push', '--follow-tags']],
]

const obstacles = [...wrongVersion(), ...notReady(), ...(isReal ? notSigned() : [])]
for (const obstacle of obstacles) console.error(`in the way: ${obstacle}`)
if (!isReal || obstacles.length > 0) {
  for (const [what, how] of STEPS)
    console.log(typeof what === 'string' ? `would run: ${what} ${words(how)}` : `would edit: ${how}`)
  if (!isReal) console.log('Nothing was changed. With --publish it is done.')
  process.exitCode = obstacles.length > 0 ? 1 : 0
} else {
  for (const [what, how] of STEPS) {
    if (typeof what === 'function') what()
    else if (spawnSync(what, how, { cwd: root, stdio: 'inherit' }).status !== 0) {
      console.error(`failed: ${what} ${words(how)}. Nothing after it was run.`)
      process.exit(1)
    }
  }
}

function wrongVersion() {
  if (!VERSION.test(version))
    return [`"${version}" is no version; write npm run release -- 1.2.0, or 1.2.0-beta.1`]
  const order = (text) => VERSION.exec(text).slice(1, 4).map(Number)
  const [now, then] = [order(manifest.version), order(version)]
  const differs = now.findIndex((part, index) => part !== then[index])
  const isOlder = differs >= 0 && then[differs] < now[differs]
  return isOlder ? [`${version} is older than ${manifest.version}`] : []
}

function notReady() {
  const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout.trim()
  const found = []
  if (git('status', '--porcelain') !== '') found.push('there are changes that are not committed')
  if (git('tag', '--list', `v${version}`) !== '') found.push(`the tag v${version} is there already`)
  if (unreleased() === '') found.push('CHANGELOG.md has nothing under "Unreleased"')
  if (!manifest.repository)
    found.push('package.json names no "repository", by which npm checks where it was built')
  return found
}

/** Build machines offer the token in one of these ways. */
function notSigned() {
  const { ACTIONS_ID_TOKEN_REQUEST_URL, SIGSTORE_ID_TOKEN } = process.env
  return ACTIONS_ID_TOKEN_REQUEST_URL || SIGSTORE_ID_TOKEN
    ? []
    : [
        'this machine cannot prove what it is: publish from the build machine, with the right to a token of OpenID Connect',
      ]
}

function unreleased() {
  const [, text = ''] =
    /\n## Unreleased\n([\s\S]*?)(?=\n## |$)/.exec(fs.readFileSync(at('CHANGELOG.md'), 'utf8')) ?? []
  return text.trim()
}

function dateChangelog() {
  const text = fs.readFileSync(at('CHANGELOG.md'), 'utf8')
  const date = new Date().toISOString().slice(0, 10)
  fs.writeFileSync(
    at('CHANGELOG.md'),
    text.replace('\n## Unreleased\n', `\n## Unreleased\n\n## ${version} – ${date}\n`),
  )
}

function words(args) {
  return args.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(' ')
}
