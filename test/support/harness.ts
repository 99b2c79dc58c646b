import { onTestFinished } from 'vitest'
import { createHarness, type Harness, type HarnessOptions } from '../../src/testing/harness.js'
import { freshSchemaName, sharedDatabase } from './database.js'

/** A harness on the database under test, in a schema of its own that goes with the test. */
export async function openHarness(options: HarnessOptions): Promise<Harness & { schema: string }> {
  const schema = freshSchemaName()
  const harness = await createHarness({ database: await sharedDatabase(), schema, ...options })
  onTestFinished(async () => {
    await harness.escapement.database.query(`drop schema if exists "${schema}" cascade`)
    await harness.close()
  })
  return { ...harness, schema }
}
