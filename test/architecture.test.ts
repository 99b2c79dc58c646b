import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

/**
 * The layers, lowest first. A file imports only from lower layers and from its own folder. What is named here is a
 * folder of `src` or a file in it, without its ending.
 */
const LAYERS: readonly (readonly string[])[] = [
  ['errors', 'logger', 'version', 'chance'],
  ['time'],
  ['schedules', 'runs', 'transitions', 'clock'],
  ['store', 'wait', 'deadline', 'gather', 'breather', 'pulse', 'shared-reading', 'tracing'],
  ['events'],
  ['client', 'scheduler', 'worker', 'sweeper', 'http-job'],
  ['escapement', 'options', 'config'],
  ['server', 'http-client', 'testing', 'adapters', 'index'],
  ['cli'],
]
/** Neighbours in one layer that one of them may import from. */
const NEIGHBOURS: Readonly<Record<string, readonly string[]>> = {
  schedules: ['runs'],
  // What can be stored is the same question for a value as for an input.
  transitions: ['runs'],
  // Ending a pause is a verb, and a tick asks scope providers as a verb does.
  scheduler: ['client'],
  escapement: ['options'],
  config: ['options'],
  // Types alone: what the server's operations take and answer.
  'http-client': ['server'],
}

const source = fileURLToPath(new URL('../src', import.meta.url))
const files = fs
  .readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => file.replaceAll('\\', '/'))
/** The code alone: comments may show what code may not do. */
const textOf = (file: string) =>
  fs.readFileSync(path.join(source, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')

const partOf = (file: string) => file.split('/')[0]!.replace(/\.ts$/, '')
const layerOf = (part: string) => LAYERS.findIndex((parts) => parts.includes(part))

function importsOf(file: string): string[] {
  return [...textOf(file).matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1]!)
}

/** The files that `select` finds something in, with what it found. */
function offenders(select: (file: string) => readonly string[]): string[] {
  return files.flatMap((file) => select(file).map((found) => `${file}: ${found}`))
}

describe('architecture', () => {
  it('has every file in a layer', () => {
    expect(files.filter((file) => layerOf(partOf(file)) === -1)).toEqual([])
    expect(files.length).toBeGreaterThan(40)
  })

  it('imports only from lower layers', () => {
    const upward = offenders((file) => {
      const from = partOf(file)
      return importsOf(file)
        .filter((target) => target.startsWith('.'))
        .filter((target) => {
          const to = partOf(
            path.posix.normalize(path.posix.join(path.posix.dirname(file), target)).replace(/\.js$/, '.ts'),
          )
          if (to === from || to === '..') return false
          return layerOf(to) >= layerOf(from) && !NEIGHBOURS[from]?.includes(to)
        })
    })
    expect(upward).toEqual([])
  })

  it('keeps drivers and SQL in store', () => {
    const driver = /^(pg|@electric-sql\/pglite)($|\/)/
    const sql = /\b(insert into|delete from|update \{schema\}|from \{schema\})/
    const elsewhere = files.filter((file) => !file.startsWith('store/'))
    expect(elsewhere.filter((file) => importsOf(file).some((name) => driver.test(name)))).toEqual([])
    expect(elsewhere.filter((file) => sql.test(textOf(file)))).toEqual([])
  })

  it('reads the host clock in clock.ts only', () => {
    const clock = /\bDate\.now\(\)|\bnew Date\(\)|\bperformance\.now\(\)|\bprocess\.hrtime/
    expect(files.filter((file) => file !== 'clock.ts' && clock.test(textOf(file)))).toEqual([])
  })

  it('touches the process and the console in cli only', () => {
    const effect = /\bconsole\.|\bprocess\.(env|argv|exit|exitCode|on|once|stdout|stderr|cwd|chdir)\b/
    const elsewhere = files.filter((file) => !file.startsWith('cli/'))
    expect(elsewhere.filter((file) => effect.test(textOf(file)))).toEqual([])
  })

  it('keeps the pure layers free of input and output', () => {
    const pure = files.filter(
      (file) => layerOf(partOf(file)) <= 2 && !['version.ts', 'clock.ts'].includes(file),
    )
    const io = /^node:(?!crypto$|util$)/
    expect(pure.filter((file) => importsOf(file).some((name) => io.test(name)))).toEqual([])
  })
})
