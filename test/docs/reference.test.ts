import { afterAll, describe, expect, it } from 'vitest'
import { Declarations } from '../../scripts/reference/declarations.js'
import { optionTypes } from '../../scripts/reference/options.js'
import { pagesOfCode } from '../../scripts/reference/pages.js'
import { readPages } from './pages.js'
import { withoutWidths } from './tables.js'

// The page on the schema needs a database: test/store/schema-reference.test.ts has it.
describe('the reference', () => {
  const declarations = new Declarations()
  afterAll(() => declarations.close())

  it('says what the code says; npm run reference writes it anew', () => {
    for (const [name, text] of Object.entries(pagesOfCode(declarations))) {
      const [page] = readPages(`docs/reference/${name}`)
      expect(withoutWidths(page!.text), name).toBe(withoutWidths(text))
    }
  })

  it('has all options that there are', () => {
    const { listed, exported } = optionTypes(declarations)
    expect(exported.filter((name) => !listed.includes(name))).toEqual([])
    expect(exported.length).toBeGreaterThan(20)
  })
})
