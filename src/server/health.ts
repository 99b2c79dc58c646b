/**
 * What probes ask. They have no token, so they are told a status and a short reason and nothing else.
 *
 * Liveness is about this process alone: were it to fail with the database, an orchestrator would restart every process there
 * is in the middle of an outage. Readiness is about both.
 */
import type { Escapement } from '../escapement.js'

/** For `/health`: 503 where a loop is stuck, so that a restart may help. */
export function healthResponse(escapement: Pick<Escapement, 'health'>): Response {
  const { status, reason } = escapement.health()
  return answer(status === 'ok', status, reason)
}

/** For `/ready`: 503 where this process cannot do what it is asked for, and should be asked for nothing. */
export async function readinessResponse(escapement: Pick<Escapement, 'ready'>): Promise<Response> {
  const { ready, reason } = await escapement.ready()
  return answer(ready, ready ? 'ready' : 'unready', reason)
}

function answer(isWell: boolean, status: string, reason: string | null): Response {
  return Response.json(reason === null ? { status } : { status, reason }, {
    status: isWell ? 200 : 503,
    headers: { 'cache-control': 'no-store' },
  })
}
