import type { PGlite } from '@electric-sql/pglite'
import { answerText } from './pglite-answer.js'
import type { Reply } from './pglite-messages.js'
import { quoteLiteral } from './store.js'

/** Statements that the one session of an engine keeps, each with its plan. */
export interface Prepared {
  /** `before` is said in the same breath. */
  run(text: string, params: readonly (string | null)[], before?: string): Promise<Reply>
}

/** By names of SQL: the protocol's own would take PGlite three round trips. At most `most` are kept, the newest used. */
export function createPrepared(engine: PGlite, most: number): Prepared {
  const names = new Map<string, string>()
  let count = 0

  async function nameOf(text: string): Promise<Reply | string> {
    const known = names.get(text)
    if (known !== undefined) {
      names.delete(text)
      names.set(text, known)
      return known
    }
    const name = `kept_${count++}`
    const reply = await answerText(engine, `prepare ${name} as ${text}`)
    if ('error' in reply) return reply
    names.set(text, name)
    const [oldest] = names
    if (names.size > most) await forget(...oldest!)
    return name
  }

  async function forget(text: string, name: string): Promise<void> {
    names.delete(text)
    await answerText(engine, `deallocate ${name}`)
  }

  return {
    async run(text, params, before = '') {
      const name = await nameOf(text)
      if (typeof name !== 'string') return name
      const given = params.map((param) => (param === null ? 'null' : quoteLiteral(param))).join(', ')
      const reply = await answerText(engine, `${before}execute ${name}${given && `(${given})`}`)
      // A migration has changed the columns of its answer.
      if ('error' in reply && reply.error.postgres?.code === OUTDATED) await forget(text, name)
      return reply
    },
  }
}

const OUTDATED = '0A000'
