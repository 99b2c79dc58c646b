import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

interface Lock {
  packages: Record<string, { resolved?: string; optionalDependencies?: Record<string, string> }>
}

describe.each(['../package-lock.json', 'integrations/package-lock.json'])('%s', (file) => {
  const lock: Lock = JSON.parse(fs.readFileSync(new URL(file, import.meta.url), 'utf8'))

  it('names no download address', () => {
    expect(Object.values(lock.packages).filter(({ resolved }) => resolved !== undefined)).toEqual([])
  })

  it('has the optional packages of every platform, so that npm ci takes it everywhere', () => {
    const wanted = Object.values(lock.packages).flatMap(({ optionalDependencies = {} }) =>
      Object.keys(optionalDependencies),
    )
    expect(wanted.filter((name) => !lock.packages[`node_modules/${name}`])).toEqual([])
  })
})

describe('the release script', () => {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const release = (...args: string[]) =>
    spawnSync(process.execPath, ['scripts/release.mjs', ...args], { cwd: root, encoding: 'utf8' })
  const state = () => spawnSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' }).stdout

  it('tests, packs and signs, and without being told to publish only says so', () => {
    const before = state()
    const { stdout } = release('1.2.0-beta.1')
    const steps = stdout.split('\n').flatMap((line) => /^would (?:run|edit): (.*)$/.exec(line)?.[1] ?? [])
    expect(steps).toEqual([
      'npm ci',
      'npm test',
      'npm run test:package',
      'npm version 1.2.0-beta.1 --no-git-tag-version --allow-same-version',
      'CHANGELOG.md: "Unreleased" becomes "1.2.0-beta.1", with the date',
      'git commit --all --message "release 1.2.0-beta.1"',
      'git tag --annotate v1.2.0-beta.1 --message "Escapement 1.2.0-beta.1"',
      'node scripts/check-package.mjs',
      'npm publish --provenance --access public --tag next',
      'git push --follow-tags',
    ])
    expect(stdout).toContain('Nothing was changed.')
    expect(state()).toBe(before)
  })

  it('says what is in the way', () => {
    const { status, stderr } = release('1.2')
    expect(status).toBe(1)
    expect(stderr).toContain('in the way: "1.2" is no version')
  })

  it('gives finished versions to all, and names scripts that are there', () => {
    const { stdout } = release('1.2.0')
    expect(stdout).toContain('npm publish --provenance --access public --tag latest')
    const { scripts } = JSON.parse(fs.readFileSync(`${root}package.json`, 'utf8'))
    const named = [...stdout.matchAll(/npm run (\S+)/g)].map(([, name]) => name!)
    expect(named.filter((name) => !(name in scripts))).toEqual([])
  })
})
