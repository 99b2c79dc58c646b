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
  const changed = text.replaceAll(new RegExp(pattern, 'g'), by)
  if (changed === text) throw new Error(`There is no ${pattern} to replace in: ${text}`)
  return changed
}

/** Where the runs of a plan are among its parameters, whose lease they get, and whether any of them waits. */
const FIRST_OF_RUNS = 10
const LEASE = [21, 22]
const ANY_WAITS = 26

/** The cursor moves in a transaction of its own, and the runs are inserted in the next one. */
export function cursorFirst(engine: EngineHere): EngineHere {
  return altered(engine, ({ op, text, params }) => {
    // That of ticks alone: were it refused here, nothing would be found.
    if (!text.includes(': record due occurrences */')) return undefined
    const anyCursor = replaced(
      text,
      /and c\.next_at is not distinct from \S+ \/ 1000\)::timestamptz\(3\)/,
      '',
    )
      .replace('s.ctid = plan.place and s.id is not distinct from', 's.id =')
      .replaceAll('c.ctid = plan.cursor_place and c.schedule_id is not distinct from', 'c.schedule_id =')
    const withoutRuns = params.map((param, index) =>
      index < FIRST_OF_RUNS || index === ANY_WAITS ? param : LEASE.includes(index) ? null : '{}',
    )
    return (async () => {
      const moved = await engine.request({ op, text, params: withoutRuns })
      if ('error' in moved) return moved
      await engine.request({ op: 'commit' })
      await engine.request({ op: 'begin' })
      return engine.request({ op, text: anyCursor, params })
    })()
  })
}

/** In statements that are known by `where`, one text is replaced by another. */
function rewritten(where: RegExp, pattern: RegExp, by: string): (engine: EngineHere) => EngineHere {
  return (engine) =>
    altered(engine, ({ op, text, params }) =>
      where.test(text) ? engine.request({ op, text: replaced(text, pattern, by), params }) : undefined,
    )
}

/** An outcome is recorded whoever has the lease. */
export const withoutFence = rewritten(
  /ended as \(\s*delete from \S+\.runs_open[\s\S]*o\.token/,
  /r\.lease_token = o\.token/,
  'true',
)

/** The same of failures alone. */
export const withoutFenceOfFailures = rewritten(
  /retried as \(\s*update \S+\.runs_open[\s\S]*o\.token/,
  /r\.lease_token = o\.token/,
  'true',
)

/** No run that ends gives an `after` timing its next plan time. */
export const deadChains = rewritten(/is_full/, /and not judged\.is_done/, 'and false')

/** It counts from a second before the run's end. */
export const hastyChains = rewritten(
  /is_full/,
  /clock\.now \+ c\.after_ms/,
  'clock.now + (c.after_ms - 1000)',
)

/** Those who wait in a lane are claimed too. */
export const withoutLanes = rewritten(/claimed as/, /and coalesce\(lane, 0\) = 0/, '')

/** Whoever ends lets nobody in. */
export const strandedLanes = rewritten(/waiting set lane = 0/, /where waiting\.id = next\.id/, 'where false')

/** There are more places than the job has. */
export const withoutLimits = rewritten(
  /places under limits/,
  /job\.concurrency - count/,
  '9 + job.concurrency - count',
)

/** What is to be tried once is tried again when its worker is lost. */
export const triedAgain = rewritten(
  /claimed as/,
  /max_attempts = job\.attempts,\s+fails_when_stale = job\.fails/,
  'max_attempts = job.attempts + 1, fails_when_stale = false',
)

/** An attempt that was lost gives its number to the next. */
export function numberedAgain(engine: EngineHere): EngineHere {
  const lost = /expired as materialized/
  const recorded = rewritten(
    lost,
    /select id, attempt, (.*) from recovered cross join clock/,
    'select id, attempt + 1, $1 from recovered cross join clock on conflict do nothing',
  )
  const retried = rewritten(
    lost,
    /set state = 'retrying',/,
    `set state = 'retrying', attempt = r.attempt - 1,`,
  )
  return retried(recorded(engine))
}

/** What failed with its worker is recorded as if somebody had cancelled it. */
export const cancelledByNobody = rewritten(
  /expired as materialized/,
  /'failed' as state/,
  `'cancelled' as state`,
)

/** A schedule that has failed too often goes on. */
export const unbroken = rewritten(
  /'break', 'broken'/,
  /from taken where (s\.id|c\.schedule_id) = taken\.id/,
  'from taken where false',
)

/** Rows change and nobody writes it down. */
export const withoutLog = rewritten(
  /logged as \(\s*insert into \S+\.transition_log/,
  /from steps where is_applied/,
  'from steps where false',
)
