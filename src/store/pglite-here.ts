import { readEmptyDatabase } from './empty-database.js'
import { answer } from './pglite-answer.js'
import type { Reply, Request } from './pglite-messages.js'
import { startPGlite } from './pglite-start.js'

/**
 * An engine in memory on the thread of its caller. It holds that thread up for as long as a statement takes, and answers in
 * the same order whenever it is asked the same: what a simulation needs, and a program does not.
 */
export interface EngineHere {
  /** Never rejects: a refused statement is a reply. */
  request(request: Request): Promise<Reply>
  onNotification(listener: (channel: string, payload: string) => void): void
  close(): Promise<void>
}

/** `template` is an archive of the database to begin with; without it, the empty one. */
export async function openEngineHere(template?: ArrayBuffer): Promise<EngineHere> {
  let death: Error | undefined
  const engine = await startPGlite(null, template ?? (await readEmptyDatabase()), (reason) => {
    death = reason
  })
  return {
    async request(request) {
      if (death) throw death
      return answer(engine, request)
    },
    onNotification: (listener) => void engine.onNotification(listener),
    close: () => engine.close(),
  }
}
