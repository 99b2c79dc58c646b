import { afterAll, expect, it } from 'vitest'
import { schemaPage } from '../../scripts/reference/schema.js'
import { migrate } from '../../src/store/migrate.js'
import { readPages } from '../docs/pages.js'
import { withoutWidths } from '../docs/tables.js'
import { freshSchemaName, sharedDatabase } from '../support/database.js'

const database = await sharedDatabase()
const schema = freshSchemaName()
afterAll(() => database.query(`drop schema if exists "${schema}" cascade`))

it('the page on the schema has all tables and columns, each with words; npm run reference writes it anew', async () => {
  await migrate(database, schema)
  const [page] = readPages('docs/reference/schema.md')
  expect(withoutWidths(page!.text)).toBe(withoutWidths(await schemaPage(database, schema)))
})
