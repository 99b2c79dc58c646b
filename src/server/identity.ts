import type { AccessRole } from '../client/tokens.js'

/** Who asks. */
export interface Identity {
  /** The actor of what is done: the token's name, or `local`. */
  name: string
  role: AccessRole
  /** Only schedules of this group, and their runs; null for all. */
  group: string | null
  /**
   * How it is known: `local` for whoever is on this machine while there are no tokens, `token` by its header, `session`
   * by the dashboard's cookie, `custom` by the `authenticate` of the application around us.
   */
  via: 'local' | 'token' | 'session' | 'custom'
  /** Of a session, to end it. */
  sessionId?: string
  /** What a session's unsafe requests must carry in `X-CSRF-Token`. */
  csrfToken?: string
}

const RANK: Readonly<Record<AccessRole, number>> = { viewer: 0, operator: 1, admin: 2 }

export function mayDo(identity: Identity, role: AccessRole): boolean {
  return RANK[identity.role] >= RANK[role]
}
