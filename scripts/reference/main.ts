/**
 * Writes the pages of docs/reference that are made of the code: `npm run reference`, which aligns their tables as well. Tests
 * compare them with what is in the repository.
 */
import fs from 'node:fs'
import path from 'node:path'
import { migrate } from '../../src/store/migrate.js'
import { openDatabase } from '../../src/store/open.js'
import { Declarations, root } from './declarations.js'
import { pagesOfCode } from './pages.js'
import { schemaPage } from './schema.js'

const declarations = new Declarations()
const { outer: database } = await openDatabase('memory:')
await migrate(database, 'escapement')
const pages = {
  ...pagesOfCode(declarations),
  'schema.md': await schemaPage(database, 'escapement'),
}
declarations.close()
await database.close()

for (const [name, text] of Object.entries(pages)) {
  fs.writeFileSync(path.join(root, 'docs/reference', name), text)
  console.log(`docs/reference/${name}`)
}
