import { onTestFinished } from 'vitest'
import { createHarness, type Harness, type HarnessOptions } from '../../src/testing/harness.js'
import { sharedDatabase } from './database.js'
import { useSchema } from './schema.js'

/** A harness on the database under test, in a schema that no other test uses. */
export async function openHarness(options: HarnessOptions): Promise<Harness & { schema: string }> {
  const schema = options.schema ?? (await useSchema())
  const harness = await createHarness({ database: await sharedDatabase(), ...options, schema })
  onTestFinished(() => harness.close())
  return { ...harness, schema }
}
