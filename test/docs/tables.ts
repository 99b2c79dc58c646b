import fs from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { readPages, root } from './pages.js'

/**
 * Compares the tables of a page whose first heading is `heading` with what is computed of the first cell of each row, which is
 * code. `UPDATE_TABLES=1` writes what was computed instead; `npm run format` then aligns it.
 */
export function expectTables(file: string, heading: string, cellsOf: (code: string) => string[]): void {
  const [page] = readPages(file)
  const table = new RegExp(`^\\| ${heading} .*\\n\\|[ -|]*\\n((?:\\|.*\\n)+)`, 'gm')
  let rows = 0
  const written = page!.text.replace(table, (whole, body: string) => {
    const computed = body.replace(/^\| `([^`]+)`.*$/gm, (_, code: string) => {
      rows += 1
      return `| ${[`\`${code}\``, ...cellsOf(code)].join(' | ')} |`
    })
    return whole.replace(body, () => computed)
  })
  expect(rows, `rows under "${heading}" in ${file}`).toBeGreaterThan(0)
  if (process.env.UPDATE_TABLES === '1') fs.writeFileSync(path.join(root, file), written)
  else expect(withoutWidths(page!.text)).toBe(withoutWidths(written))
}

/** Where tables are compared, how wide their columns are does not matter. */
export function withoutWidths(text: string): string {
  return text.replace(/ +/g, ' ').replace(/-{3,}/g, '---')
}

/** What a line of code gives, with these names in reach: it is ours, and stands in a page. */
export function evaluate(code: string, names: Readonly<Record<string, unknown>>): unknown {
  return new Function(...Object.keys(names), `return ${code}`)(...Object.values(names))
}
