import { createEscapement } from 'escapement'

/** One for the process: it outlives the modules that Next.js loads again, and nothing is opened while it builds. */
export function openEscapement() {
  globalThis.escapement ??= createEscapement({
    database: process.env.DATABASE_URL,
    schema: process.env.ESCAPEMENT_SCHEMA,
  })
  return globalThis.escapement
}
