import fs from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const text = fs.readFileSync(`${root}CONTRIBUTING.md`, 'utf8')
const { scripts } = JSON.parse(fs.readFileSync(`${root}package.json`, 'utf8'))

/** `a/{b,c}.ts` is two paths. */
function expand(path: string): string[] {
  const [, before, choices, after] = /^(.*?)\{([^}]+)\}(.*)$/.exec(path) ?? []
  return choices === undefined ? [path] : choices.split(',').map((each) => `${before}${each}${after}`)
}

function exists(path: string): boolean {
  const [, folder, name] = /^(.*\/)([^/]*)$/.exec(path)!
  if (!name!.includes('*')) return fs.existsSync(root + path)
  const pattern = new RegExp(`^${name!.replaceAll('.', '\\.').replaceAll('*', '.*')}$`)
  return fs.readdirSync(root + folder).some((file) => pattern.test(file))
}

/** From the folders at the top, so that they can be opened as they are. */
const TOP = /^(?:src|test|docs|dashboard|scripts|bench|examples|deploy|model|\.ci)\//

describe('CONTRIBUTING.md', () => {
  const paths = [...text.matchAll(/`([^`\s]+)`/g)].map(([, path]) => path!).filter((path) => TOP.test(path))

  it('names files that are there', () => {
    expect(paths.flatMap(expand).filter((path) => !exists(path))).toEqual([])
    expect(paths.length).toBeGreaterThan(60)
  })

  it('names files from the top', () => {
    const files = [...text.matchAll(/`([\w./{},*-]+\/[\w.{},*-]+\.(?:ts|tsx|mjs|md|sql))`/g)].map(
      ([, path]) => path!,
    )
    expect(files.filter((path) => !TOP.test(path))).toEqual([])
  })

  it('names scripts that are there', () => {
    const named = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name!)
    expect(named.filter((name) => !(name in scripts))).toEqual([])
  })

  it('can be read at one sitting', () => {
    expect(text.split('\n').length).toBeLessThan(150)
  })
})
