import { readEmptyDatabase } from './empty-database.js'
import { answer, answerText } from './pglite-answer.js'
import { errorFromFields } from './pglite-errors.js'
import type { Reply, Request } from './pglite-messages.js'
import { createPrepared } from './pglite-prepared.js'
import { startPGlite } from './pglite-start.js'

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

const PREPARABLE = /^\s*(?:\/\*.*?\*\/)?\s*(?:select|with|insert|update|delete)\b/i
const SETTINGS = [
  // One plan for each statement, whatever it is given: the engine would else plan its first executions anew.
  'set plan_cache_mode = force_generic_plan',
  // Nothing of it is to last.
  'set synchronous_commit = off',
].join(';')
/** Tables are emptied and not dropped: to create our schema anew takes longer than a short seed. */
const EMPTY = `rollback; unlisten *; select pg_advisory_unlock_all();
  do $$
  declare ours text;
  begin
    select string_agg(format('%I.%I', schemaname, tablename), ', ') into ours
    from pg_tables where schemaname = 'escapement' and tablename <> 'migrations';
    if ours is null then return; end if;
    execute 'truncate ' || ours || ' restart identity';
    insert into escapement.control default values;
  end $$`

/** `template` is an archive of the database to begin with; without it, the empty one. */
export async function openEngineHere(template?: ArrayBuffer): Promise<EngineHere> {
  let death: Error | undefined
  const engine = await startPGlite(null, template ?? (await readEmptyDatabase()), (reason) => {
    death = reason
  })
  await engine.exec(SETTINGS)
  const prepared = createPrepared(engine, Number.POSITIVE_INFINITY)

  async function query({ text, params }: Extract<Request, { op: 'query' }>): Promise<Reply> {
    if (!PREPARABLE.test(text)) return answer(engine, { op: 'query', text, params })
    return prepared.run(text, params)
  }

  const here: EngineHere = {
    async request(request) {
      if (death) throw death
      return request.op === 'query' ? query(request) : answer(engine, request)
    },
    onNotification: () => {},
    async empty() {
      const reply = await answerText(engine, EMPTY)
      if ('error' in reply) throw errorFromFields(reply.error)
    },
    close: () => engine.close(),
  }
  engine.onNotification((channel, payload) => here.onNotification(channel, payload))
  return here
}
