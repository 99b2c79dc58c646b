import { execFile } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { parseAst } from 'vite'
import { expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { createProgram } from '../../src/cli/program.js'
import { commandsIn, mistakeIn } from '../docs/commands.js'
import { modulesOf } from '../docs/modules.js'
import { type Block, blocksOf, type Page, proseOf, readPages, root } from '../docs/pages.js'

const pages = readPages('README.md', 'docs/guide', 'examples')

it('TypeScript in the README and the guide compiles against what is shipped', async () => {
  const folder = path.join(root, 'test/docs/.blocks')
  fs.rmSync(folder, { recursive: true, force: true })
  const modules = pages.flatMap(modulesOf)
  for (const { file, text } of modules) {
    fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    fs.writeFileSync(path.join(folder, file), text)
  }
  const said = await compile()
  const pageOf = new Map(modules.map(({ file, page }) => [file, page]))
  const mistakes = said.replace(
    /^test\/docs\/.blocks\/(.+?)\((\d+),\d+\): /gm,
    (_, file: string, line: string) => `${pageOf.get(file) ?? file}:${line}: `,
  )
  expect(mistakes).toBe('')
})

it.each([
  ['json', (text: string): unknown => JSON.parse(text)],
  ['yaml', (text: string): unknown => parseYaml(text)],
  // How others do it: their packages are not here.
  ['js', (text: string): unknown => parseAst(text)],
])('what the README and the guide call %s is that', (language, parse) => {
  const found = blocks(language)
  for (const { code } of found) expect(() => parse(code), code).not.toThrow()
  expect(found.length).toBeGreaterThan(0)
})

it('commands in the README and the guide exist, with their flags', () => {
  const program = createProgram()
  // What is typed on the page of the command line is typed by transcripts.test.ts, its mistakes included.
  const scripts = blocks('sh', 'bash').map(({ code }) => code)
  const lines = scripts.flatMap(commandsIn)
  const inProse = pages.flatMap((page) =>
    [...proseOf(page).matchAll(/`(?:npx )?(escapement [^`]+)`/g)].map(([, line]) => line!),
  )
  const mistakes = [...lines, ...inProse].flatMap((line) => mistakeIn(line, program) ?? [])
  expect(mistakes).toEqual([])
  expect(lines.length).toBeGreaterThan(20)
})

it.each([
  ['escapement schedule list', 'there is no escapement schedule'],
  ['escapement schedules put nightly --crom "0 3 * * *"', 'escapement schedules put has no --crom'],
  ['escapement schedules pause one two three', 'too many words for escapement schedules pause'],
])('a command that there is not is found: %s', (line, mistake) => {
  expect(mistakeIn(line, createProgram())).toContain(mistake)
})

it('SQL in the README and the guide names what our schema has', () => {
  const folder = path.join(root, 'src/store/migrations')
  const migrations = fs.readdirSync(folder).map((file) => fs.readFileSync(path.join(folder, file), 'utf8'))
  const made = migrations
    .join('\n')
    .matchAll(/create (?:or replace )?(?:table|view|function) \{schema\}\.(\w+)/g)
  const known = new Set([...made].map(([, name]) => name))
  const named = blocks('sql').flatMap(({ code }) => [...code.matchAll(/\bescapement\.(\w+)/g)])
  expect(named.map(([, name]) => name).filter((name) => !known.has(name))).toEqual([])
})

function blocks(...languages: string[]): (Block & { page: Page })[] {
  return pages.flatMap((page) =>
    blocksOf(page)
      .filter(({ language }) => languages.includes(language))
      .map((block) => ({ ...block, page })),
  )
}

/** What the compiler says, and nothing if it is content. */
function compile(): Promise<string> {
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc')
  const args = [tsc, '-p', 'test/docs/tsconfig.blocks.json', '--pretty', 'false']
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: root }, (error, stdout, stderr) =>
      resolve(error && stdout === '' ? `${error.message}${stderr}` : stdout),
    )
  })
}
