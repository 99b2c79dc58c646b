import type { Session } from '../store.js'

export interface ServerFacts {
  /** By the server's own clock, whatever clock decides. */
  now: Date
  version: string
  isStandby: boolean
  isReadOnly: boolean
}

export async function readServerFacts(session: Pick<Session, 'query'>): Promise<ServerFacts> {
  const [row] = await session.query<{
    now: Date
    version: string
    is_standby: boolean
    is_read_only: boolean
  }>(
    `select clock_timestamp() as now, current_setting('server_version') as version, pg_is_in_recovery() as is_standby,
       current_setting('transaction_read_only')::boolean as is_read_only`,
  )
  const { now, version, is_standby, is_read_only } = row!
  return { now, version, isStandby: is_standby, isReadOnly: is_read_only }
}
