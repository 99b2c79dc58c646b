import { onTestFinished } from 'vitest'
import { createEscapement, type Escapement } from '../../src/escapement.js'
import type { EscapementOptions } from '../../src/options.js'
import { type ApiHandler, createHandler } from '../../src/server/handler.js'
import type { HandlerOptions } from '../../src/server/options.js'
import { sharedDatabase } from '../support/database.js'
import { useSchema } from '../support/schema.js'

export const BASE = 'http://127.0.0.1:4680'

/** An API on the database under test, in a schema that no other test uses. */
export interface World {
  escapement: Escapement
  handler: ApiHandler
  schema: string
  /** Sends what the text says: `GET /api/v1/schedules`. */
  ask(line: string, init?: Omit<RequestInit, 'body'> & { body?: unknown; token?: string }): Promise<Response>
  /** A schedule that nobody else touches. */
  schedule(fields?: { group?: string; overlap?: 'skip' }): Promise<string>
  /** A direct run that waits. */
  run(): Promise<string>
  /** One of a schedule that has failed. */
  failedRun(group?: string): Promise<string>
  token(role: 'viewer' | 'operator' | 'admin', group?: string): Promise<string>
  /** So that no two requests of one kind meet. */
  unique(): string
}

/** Far enough for plan times to be skipped one by one. */
export const PLAN_TIME = '2099-06-01T00:00:00.000Z'

export async function openWorld(
  options: HandlerOptions = {},
  escapementOptions: EscapementOptions = {},
): Promise<World> {
  const schema = await useSchema()
  const escapement = await createEscapement({
    database: await sharedDatabase(),
    schema,
    ...escapementOptions,
  })
  escapement.job('work', { handler: () => null })
  const handler = createHandler(escapement, options)
  onTestFinished(async () => {
    handler.close()
    await escapement.close()
  })
  let count = 0
  const unique = () => `u${++count}`

  async function schedule({ group, overlap }: { group?: string; overlap?: 'skip' } = {}): Promise<string> {
    const name = `schedule:${unique()}`
    await escapement.schedules.put(name, {
      job: 'work',
      timing: { kind: 'every', every: '1 day' } as never,
      input: { secret: 'of-the-input' },
      ...(group !== undefined && { group }),
      ...(overlap !== undefined && { overlap }),
    })
    return name
  }

  return {
    escapement,
    handler,
    schema,
    unique,
    schedule,
    async run() {
      return (await escapement.runs.enqueue('work', null, { at: PLAN_TIME })).id
    },
    async failedRun(group) {
      const id = await escapement.schedules.trigger(await schedule(group === undefined ? {} : { group }))
      // As a worker leaves one whose attempts are used up.
      await escapement.database.query(
        `with gone as (delete from "${schema}".runs_open where id = $1 returning id, eligible_at)
         insert into "${schema}".runs_ended (id, eligible_at, finished_at, attempt, state, error_code, error_message)
         select id, eligible_at, now(), 1, 'failed', 'handler_error', 'it failed' from gone`,
        [id],
      )
      return id
    },
    token: async (role, group) =>
      (
        await escapement.tokens.create({
          name: `${role}-${unique()}`,
          role,
          ...(group !== undefined && { group }),
        })
      ).token,
    ask(line, { body, token, headers, ...init } = {}) {
      const [method, path] = line.split(' ') as [string, string]
      return handler(
        new Request(`${BASE}${path}`, {
          method,
          headers: {
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...(token !== undefined && { authorization: `Bearer ${token}` }),
            ...(headers as Record<string, string>),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
          ...init,
        }),
      )
    },
  }
}
