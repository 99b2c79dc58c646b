import { readEmptyDatabase } from './empty-database.js'
import { answer, answerText } from './pglite-answer.js'
import { errorFromFields } from './pglite-errors.js'
import type { Reply, Request } from './pglite-messages.js'
import { startPGlite } from './pglite-start.js'
import { quoteLiteral } from './store.js'

/**
 * An engine in memory on the thread of its caller. It holds that thread up for as long as a statement takes, and answers in
 * the same order whenever it is asked the same: what a simulation needs, and a program does not. Statements are planned once and
 * kept, as most of the time would else be spent on planning.
 */
export interface EngineHere {
  /** Never rejects: a refused statement is a reply. */
  request(request: Request): Promise<Reply>
  /** Who hears of notifications: one at a time. */
  onNotification: (channel: string, payload: string) => void
  /** Forgets all but a database as it was at first, but for what is in schemas of other names than ours. */
  empty(): Promise<void>
  close(): Promise<void>
}

const PREPARABLE = /^\s*(select|with|insert|update|delete)\b/i
const EMPTY =
  'rollback; deallocate all; unlisten *; select pg_advisory_unlock_all(); drop schema if exists escapement cascade'

/** `template` is an archive of the database to begin with; without it, the empty one. */
export async function openEngineHere(template?: ArrayBuffer): Promise<EngineHere> {
  let death: Error | undefined
  const engine = await startPGlite(null, template ?? (await readEmptyDatabase()), (reason) => {
    death = reason
  })
  // One plan for each, whatever it is given: the engine would else plan the first executions of each anew.
  await engine.exec('set plan_cache_mode = force_generic_plan')
  const names = new Map<string, string>()

  async function query({ text, params }: Extract<Request, { op: 'query' }>): Promise<Reply> {
    if (!PREPARABLE.test(text)) return answer(engine, { op: 'query', text, params })
    let name = names.get(text)
    if (name === undefined) {
      name = `kept_${names.size}`
      const reply = await answerText(engine, `prepare ${name} as ${text}`)
      if ('error' in reply) return reply
      names.set(text, name)
    }
    const given = params.map((param) => (param === null ? 'null' : quoteLiteral(param))).join(', ')
    return answerText(engine, `execute ${name}${given && `(${given})`}`)
  }

  const here: EngineHere = {
    async request(request) {
      if (death) throw death
      return request.op === 'query' ? query(request) : answer(engine, request)
    },
    onNotification: () => {},
    async empty() {
      names.clear()
      const reply = await answerText(engine, EMPTY)
      if ('error' in reply) throw errorFromFields(reply.error)
    },
    close: () => engine.close(),
  }
  engine.onNotification((channel, payload) => here.onNotification(channel, payload))
  return here
}
