import type { PGlite } from '@electric-sql/pglite'
import { errorFields } from './pglite-errors.js'
import type { Reply, Request } from './pglite-messages.js'

/** A bare `begin` would draw everybody's later statements into one transaction that nobody commits. */
export async function endStrayTransaction(engine: PGlite): Promise<Reply> {
  await engine.exec('rollback')
  const message =
    'A statement left a transaction open in the one session that all share. Use `transaction()`.'
  return { error: { message, escapement: { code: 'database_busy', details: {} } } }
}

/** The engine itself broke down, as opposed to a statement that it refused. */
class EngineCrash extends Error {}

function replyToFailure(error: unknown): Reply {
  if (error instanceof EngineCrash) throw error
  return { error: errorFields(error) }
}

/** PGlite swallows what the engine throws when it crashes, and answers with an empty result. */
async function requireAnswer(engine: PGlite, result: { command?: string } | undefined): Promise<void> {
  if (result?.command !== undefined) return
  // An empty statement has no command either, but then the engine still answers.
  const { rows } = await engine.query('select 1')
  if (rows.length === 0) throw new EngineCrash('the engine crashed')
}

/** What the engine says to one request; rejects only if it broke down. */
export function answer(engine: PGlite, request: Request): Promise<Reply> {
  return ask(engine, request).catch(replyToFailure)
}

/** The rows of the last statement of a text without parameters. */
export function answerText(engine: PGlite, text: string): Promise<Reply> {
  const read = async () => {
    const last = (await engine.exec(text)).at(-1)
    await requireAnswer(engine, last)
    return { rows: last?.rows ?? [] }
  }
  return read().catch(replyToFailure)
}

async function ask(engine: PGlite, request: Request): Promise<Reply> {
  switch (request.op) {
    case 'query': {
      const result = await engine.query(request.text, [...request.params])
      await requireAnswer(engine, result)
      return { rows: result.rows }
    }
    case 'script':
      await requireAnswer(engine, (await engine.exec(request.text)).at(-1))
      return { done: true }
    case 'begin':
    case 'rollback':
      await requireAnswer(engine, (await engine.exec(request.op)).at(-1))
      return { done: true }
    case 'commit': {
      const [result] = await engine.exec('commit')
      await requireAnswer(engine, result)
      return { rows: [{ command: result?.command }] }
    }
    case 'dump':
      return { archive: await (await engine.dumpDataDir('none')).arrayBuffer() }
    case 'close':
      await engine.close()
      return { done: true }
  }
}
