/**
 * Tokens for the HTTP API. A token is `esc_<id>_<secret>`: the id finds its row, and the secret's hash must be the one
 * there. The secret is shown once, when the token is made, and kept nowhere.
 */
import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { EscapementError } from '../errors.js'
import { isStorable } from '../runs/storable.js'
import { readNow } from '../store/queries/schedules.js'
import {
  findToken,
  hasTokens,
  insertSession,
  insertToken,
  type KnownToken,
  listTokens,
  noteUse,
  revokeToken,
  type TokenRow,
} from '../store/queries/tokens.js'
import type { Store } from '../store/store.js'
import { didYouMean } from '../time/did-you-mean.js'
import { type InstantInput, readInstant } from '../time/instant.js'
import { quote, readOrThrow } from '../time/report.js'
import { checkOptions, VERB } from './checked-schedules.js'
import type { VerbOptions } from './verb.js'

/** `viewer` reads; `operator` also pauses, triggers, skips, backfills, enqueues, cancels, retries; `admin` does all. */
export type AccessRole = TokenRow['role']

export const ACCESS_ROLES: readonly AccessRole[] = ['viewer', 'operator', 'admin']

/** What `tokens.create` takes. */
export interface TokenDefinition extends VerbOptions {
  /** Who or what uses it: it is the actor of what is done with it. */
  name: string
  /** What it may do: `viewer` reads, `operator` also operates, `admin` does all. */
  role: AccessRole
  /** Limits it to the schedules of this group and their runs. */
  group?: string
  /** Without it, it lasts until it is revoked. */
  expiresAt?: InstantInput
}

export interface Token {
  id: string
  name: string
  role: AccessRole
  group: string | null
  state: 'live' | 'expired' | 'revoked'
  createdAt: Date
  createdBy: string | null
  expiresAt: Date | null
  revokedAt: Date | null
  revokedBy: string | null
  /** To the minute. */
  lastUsedAt: Date | null
}

/** Whom a token stands for. */
export interface TokenHolder {
  /** Of the token, or of the token that a session was opened with. */
  tokenId: string
  /** Of the session, where it is one. */
  sessionId: string | null
  name: string
  role: AccessRole
  group: string | null
}

export interface Tokens {
  /** The `token` is given this once: what is stored cannot give it back. */
  create(definition: TokenDefinition): Promise<Token & { token: string }>
  /** Newest first; the id of the last one continues the list. */
  list(options?: { after?: string; limit?: number }): Promise<Token[]>
  /** From now on it opens nothing, nor does a session that was opened with it. Revoking again changes nothing. */
  revoke(id: string, options?: VerbOptions): Promise<void>
  /** Whose it is; null for one that is unknown, expired or revoked. */
  verify(token: string): Promise<TokenHolder | null>
  /** A token for a browser's session, at most as long as the token that opens it. */
  openSession(tokenId: string): Promise<{ token: string; expiresAt: Date }>
  /** Whether one was ever made, however it ended. */
  exist(): Promise<boolean>
}

const TOKEN = /^esc_([0-9a-f]{32})_([A-Za-z0-9_-]{43})$/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const SESSION_MS = 12 * 3_600_000
/** The oldest give way. */
const MOST_SESSIONS = 20
/** The actor of whoever needs no token: nobody else may be called so. */
export const LOCAL_NAME = 'local'
const LONGEST_NAME = 200
const MAX_PAGE = 1_000

export function createTokens(store: Store): Tokens {
  return {
    async create(definition) {
      const { name, role, group, expiresAt } = readDefinition(definition)
      if (expiresAt !== null && expiresAt.getTime() <= (await readNow(store))) {
        throw invalid('expiresAt', `${quote(definition.expiresAt)} – is not in the future`)
      }
      const made = makeToken()
      const row = await insertToken(store, {
        id: made.id,
        hash: made.hash,
        name,
        role,
        group,
        expiresAt,
        createdBy: definition.actor ?? null,
      })
      return { ...toToken(row), token: made.text }
    },
    async list({ after, limit = 100 } = {}) {
      const whole = Number.isInteger(limit) && limit >= 1 && limit <= MAX_PAGE
      if (!whole) throw invalid('limit', `${quote(limit)} – must be a whole number from 1 to ${MAX_PAGE}`)
      if (after !== undefined && !UUID.test(after)) {
        throw invalid('after', `${quote(after)} – is no token's id`)
      }
      return (await listTokens(store, { before: after ?? null, limit })).map(toToken)
    },
    async revoke(id, options = {}) {
      checkOptions(options, VERB)
      if (UUID.test(id) && (await revokeToken(store, id, options.actor ?? null))) return
      throw new EscapementError('token_not_found', {
        message: `There is no token ${quote(id)}. List them with: escapement tokens list`,
        details: { id },
      })
    },
    async verify(text) {
      const [, id, secret] = TOKEN.exec(text) ?? []
      if (id === undefined) return null
      const known = await findToken(store, uuidFrom(id))
      if (!known || !isSame(hashOf(secret!), known.hash) || !known.is_live) return null
      if (!known.is_noted) await noteUse(store, known.parent_id ?? known.id)
      return holderOf(known)
    },
    async openSession(tokenId) {
      const { id, hash, text } = makeToken()
      const session = { id, hash, parentId: tokenId, forMs: SESSION_MS, most: MOST_SESSIONS }
      return { token: text, expiresAt: (await insertSession(store, session)).expires_at }
    },
    exist: () => hasTokens(store),
  }
}

function makeToken(): { id: string; hash: string; text: string } {
  const id = randomUUID()
  const secret = randomBytes(32).toString('base64url')
  return { id, hash: hashOf(secret), text: `esc_${id.replaceAll('-', '')}_${secret}` }
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/** In constant time: both are hashes of one length. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b))
}

function uuidFrom(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function holderOf({ id, parent_id, name, role, group }: KnownToken): TokenHolder {
  return { tokenId: parent_id ?? id, sessionId: parent_id === null ? null : id, name, role, group }
}

function toToken(row: TokenRow): Token {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    group: row.group,
    state: row.revoked_at !== null ? 'revoked' : row.is_expired ? 'expired' : 'live',
    createdAt: row.created_at,
    createdBy: row.created_by,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    revokedBy: row.revoked_by,
    lastUsedAt: row.last_used_at,
  }
}

function invalid(field: string, message: string): EscapementError {
  return new EscapementError('option_invalid', {
    message: `${field}: ${message}`,
    details: { mistakes: [{ field, message }] },
  })
}

const FIELDS: readonly string[] = ['name', 'role', 'group', 'expiresAt', 'actor']

function readDefinition(definition: TokenDefinition) {
  return readOrThrow('option_invalid', (report) => {
    if (typeof definition !== 'object' || definition === null) {
      return report('token', `${quote(definition)} – must be an object with ${FIELDS.join(', ')}`)
    }
    for (const field of Object.keys(definition)) {
      if (!FIELDS.includes(field)) report(field, `unknown field${didYouMean(field, FIELDS)}`)
    }
    const { name, role, group, expiresAt, actor } = definition
    const isText = (value: unknown) =>
      typeof value === 'string' && value.trim() !== '' && value.length <= LONGEST_NAME && isStorable(value)
    if (name === LOCAL_NAME) report('name', `"${LOCAL_NAME}" – is what needs no token: choose another`)
    if (!isText(name)) report('name', `${quote(name)} – must be a text of 1 to ${LONGEST_NAME} characters`)
    if (!ACCESS_ROLES.includes(role)) {
      const hint = typeof role === 'string' ? didYouMean(role, ACCESS_ROLES) : ''
      report('role', `${quote(role)} – must be "viewer", "operator" or "admin"${hint}`)
    }
    if (group !== undefined && !isText(group)) {
      report('group', `${quote(group)} – must be a text of 1 to ${LONGEST_NAME} characters`)
    }
    if (actor !== undefined && !isText(actor)) report('actor', `${quote(actor)} – must be a text, not empty`)
    const expires = expiresAt === undefined ? undefined : readInstant(expiresAt, 'expiresAt', report)
    return {
      name,
      role,
      group: group ?? null,
      expiresAt: expires === undefined ? null : new Date(expires),
    }
  })
}
