/**
 * Turns the TypeScript of a page into modules that the compiler can check.
 *
 * A block goes on where the ones above it ended, and sees what they declare. One that declares a name again begins a module
 * of its own, and so does one whose first line is a comment with the name of its file. Each line keeps its number, so that a
 * mistake is told where it stands. What a page takes for granted is in `given.d.ts`.
 */
import path from 'node:path'
import { type Block, blocksOf, type Page } from './pages.js'

export interface Module {
  file: string
  page: string
  text: string
}

/** What is `js` is how others do it. */
const LANGUAGES = ['ts', 'tsx']
const IMPORT = /^import (?:type )?([\w*{][^;]*?) from '([^']+)'[^\n]*$/gm

export function modulesOf(page: Page): Module[] {
  const drafts: Draft[] = []
  for (const block of blocksOf(page)) {
    if (!LANGUAGES.includes(block.language)) continue
    const fileName = /^\/\/ (\S+\.tsx?)\n/.exec(block.code)?.[1]
    const last = drafts.at(-1)
    if (fileName || !last || last.fileName || !last.takes(block)) drafts.push(new Draft(fileName))
    drafts.at(-1)!.add(block)
  }
  const folder = page.path.replace(/\.md$/, '')
  return drafts.map((draft, index) => ({
    file: path.posix.join(folder, draft.fileName ?? `part-${index + 1}.ts`),
    page: page.path,
    text: draft.text(),
  }))
}

class Draft {
  readonly #lines: string[] = []
  readonly #names = new Set<string>()
  readonly #imported = new Map<string, string>()

  readonly fileName: string | undefined

  constructor(fileName: string | undefined) {
    this.fileName = fileName
  }

  takes({ code }: Block): boolean {
    const imports = importsOf(code)
    return (
      namesOf(code).every((name) => !this.#names.has(name) && !this.#imported.has(name)) &&
      imports.every(({ name, from }) => !this.#names.has(name) && (this.#imported.get(name) ?? from) === from)
    )
  }

  add({ code, linesBefore }: Block): void {
    while (this.#lines.length < linesBefore) this.#lines.push('')
    this.#lines.push(...this.#withoutKnownImports(asStatements(code)).split('\n'))
    for (const name of namesOf(code)) this.#names.add(name)
    for (const { name, from } of importsOf(code)) this.#imported.set(name, from)
  }

  text(): string {
    return `${this.#lines.join('\n')}\nexport {}\n`
  }

  #withoutKnownImports(code: string): string {
    return code.replace(IMPORT, (statement, clause: string, from: string) => {
      const known = bindingsOf(clause).filter((name) => this.#imported.get(name) === from)
      return known.reduce((text, name) => text.replace(new RegExp(`\\b${name}\\b,? ?`), ''), statement)
    })
  }
}

/** Fields that are shown without the object that they belong to are given one. */
function asStatements(code: string): string {
  if (!/^\w+: /.test(code)) return code
  return `void ({ ${code.replace(/\n$/, '')}\n} satisfies Fragment)\n`
}

function importsOf(code: string): { name: string; from: string }[] {
  return [...code.matchAll(IMPORT)].flatMap(([, clause, from]) =>
    bindingsOf(clause!).map((name) => ({ name, from: from! })),
  )
}

/** `pg, { type Pool as P }` binds `pg` and `P`. */
function bindingsOf(clause: string): string[] {
  return clause
    .replace(/[{}]/g, ',')
    .split(',')
    .map((each) => each.trim().split(/\s+/).at(-1)!)
    .filter(Boolean)
}

/** Those that are declared without indentation, as everything is in a formatted page. */
function namesOf(code: string): string[] {
  const simple = code.matchAll(
    /^(?:export )?(?:default )?(?:async )?(?:const|let|function|class|type|interface) (\w+)/gm,
  )
  const taken = code.matchAll(/^(?:export )?(?:const|let) [{[]([^=]*)[}\]] =/gm)
  return [
    ...[...simple].map(([, name]) => name!),
    ...[...taken].flatMap(([, names]) => bindingsOf(names!.replace(/(\w+):/g, ''))),
  ]
}
