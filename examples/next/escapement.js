import { createEscapement, cron } from 'escapement'
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

/** For `instrumentation.js`: where the server stays up, it can work as well as answer. */
export async function startWork() {
  const { escapement } = await opened()
  const digest = escapement.job('digest', { handler: () => 'what happened today' })
  await escapement.schedules.put('digest:nightly', { job: digest, timing: cron('0 3 * * *') })
  await escapement.start()
}
