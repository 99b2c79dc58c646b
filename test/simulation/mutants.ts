/** The engine with one defect each, made by rewriting the text of one statement: what a simulation has to find. */
import type { EngineHere } from '../../src/store/pglite-here.js'
import type { Reply, Request } from '../../src/store/pglite-messages.js'

type Query = Extract<Request, { op: 'query' }>

function altered(engine: EngineHere, alter: (query: Query) => Promise<Reply> | undefined): EngineHere {
  return {
    ...engine,
    request: (request) => (request.op === 'query' && alter(request)) || engine.request(request),
    get onNotification() {
      return engine.onNotification
    },
    set onNotification(listener) {
      engine.onNotification = listener
    },
  }
}

/** A text that is not there any more must be noticed: the mutant would be no mutant. */
function replaced(text: string, pattern: RegExp, by: string): string {
  const changed = text.replaceAll(pattern, by)
  if (changed === text) throw new Error(`There is no ${pattern} to replace in: ${text}`)
  return changed
}

/** Where the runs of a plan are among its parameters. */
const FIRST_OF_RUNS = 8

/** The cursor moves in a transaction of its own, and the runs are inserted in the next one. */
export function cursorFirst(engine: EngineHere): EngineHere {
  return altered(engine, ({ op, text, params }) => {
    if (!/moved as \(\s*update \S+\.cursors/.test(text) || !/runs_asked/.test(text)) return undefined
    const anyCursor = replaced(
      text,
      /and c\.next_at is not distinct from \S+ \/ 1000\)::timestamptz\(3\)/g,
      '',
    )
    const withoutRuns = params.map((param, index) => (index < FIRST_OF_RUNS ? param : '{}'))
    return (async () => {
      const moved = await engine.request({ op, text, params: withoutRuns })
      if ('error' in moved) return moved
      await engine.request({ op: 'commit' })
      await engine.request({ op: 'begin' })
      return engine.request({ op, text: anyCursor, params })
    })()
  })
}

/** An outcome is recorded whoever has the lease. */
export function withoutFence(engine: EngineHere): EngineHere {
  return altered(engine, ({ op, text, params }) => {
    if (!/ended as \(\s*delete from \S+\.runs_open/.test(text) || !text.includes('o.token')) return undefined
    return engine.request({ op, text: replaced(text, /r\.lease_token = o\.token/g, 'true'), params })
  })
}
