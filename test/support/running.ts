import { onTestFinished } from 'vitest'
import { createEscapement, type EscapementOptions } from '../../src/index.js'
import { alteredDatabase } from './database.js'
import { useSchema } from './schema.js'

interface Altered {
  /** Called before each statement: what it throws, the statement fails with. Most of those that are asked now and then have no purpose. */
  refuse?(purpose: string | undefined, text: string): void
  /** Called when each has its answer, which does not arrive before, or at all where this throws. */
  answered?(purpose: string): void | Promise<void>
  /** Called with each notification, to pass it on. */
  heard?(channel: string, passOn: () => void): void
}

/** What runs by the real time, whose statements can be refused, and what it says. */
export async function running(
  options: EscapementOptions = {},
  { refuse = () => {}, answered = () => {}, heard = (_, passOn) => passOn() }: Altered = {},
) {
  const purposes: string[] = []
  const logged: string[] = []
  const log = (_: object, message: string) => void logged.push(message)
  async function asked<T>(text: string, ask: () => Promise<T>): Promise<T> {
    const purpose = /escapement: ([^*]+) \*/.exec(text)?.[1]
    if (purpose !== undefined) purposes.push(purpose)
    refuse(purpose, text)
    if (purpose === undefined) return ask()
    const answer = await ask()
    await answered(purpose)
    return answer
  }
  const database = await alteredDatabase((shared) => ({
    listen: (channel, listener) =>
      shared.listen(channel, (payload) => heard(channel, () => listener(payload))),
    query: (text, params) => asked(text, () => shared.query(text, params)),
    transaction: (work) =>
      shared.transaction((tx) =>
        work({
          script: (text) => tx.script(text),
          query: (text, params) => asked(text, () => tx.query(text, params)),
        }),
      ),
  }))
  const logger = { debug() {}, info() {}, warn: log, error: log }
  const schema = await useSchema()
  const escapement = await createEscapement({ database, schema, logger, ...options })
  onTestFinished(() => escapement.close())
  escapement.job('noop', { handler: () => {} })
  const created: Date[] = []
  escapement.on('run.created', ({ planTime }) => created.push(planTime!))
  return { escapement, schema, purposes, logged, created }
}
