import { createEscapement } from 'escapement'
import { createHandler } from 'escapement/server'

/** One for the process: it outlives the modules that Next.js loads again. What failed is tried again. */
export function opened() {
  globalThis.opening ??= open().catch((error) => {
    delete globalThis.opening
    throw error
  })
  return globalThis.opening
}

async function open() {
  const escapement = await createEscapement({
    database: process.env.DATABASE_URL,
    schema: process.env.ESCAPEMENT_SCHEMA,
  })
  return { escapement, handler: createHandler(escapement, { prefix: '/internal/jobs' }) }
}
