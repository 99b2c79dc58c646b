import type { Body } from '../../../../src/http-client/index.js'
import { quoted } from '../../parts/quoted.ts'

export const ROLES = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** What each role may do, in a few words. */
export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  viewer: 'Reads everything.',
  operator: 'Also pauses, resumes, skips, triggers, backfills, enqueues, cancels, retries and sweeps.',
  admin: 'Does all: makes and edits schedules, and tokens such as this.',
}

/** How long it lasts, as the command line says it; empty for until it is revoked. */
export const LIFETIMES = ['', '30 days', '90 days', '365 days'] as const
export type Lifetime = (typeof LIFETIMES)[number]

export interface TokenForm {
  name: string
  role: Role
  group: string
  lifetime: Lifetime
}

const DAY_MS = 86_400_000

export function requestOf({ name, role, group, lifetime }: TokenForm, now: Date): Body<'createToken'> {
  const days = Number.parseInt(lifetime, 10)
  return {
    name: name.trim(),
    role,
    ...(group.trim() !== '' && { group: group.trim() }),
    ...(lifetime !== '' && { expiresAt: new Date(now.getTime() + days * DAY_MS).toISOString() }),
  }
}

/** The same for a terminal. */
export function commandOf({ name, role, group, lifetime }: TokenForm): string {
  const words = ['escapement tokens create', quoted(name.trim() || 'me'), '--role', role]
  if (group.trim() !== '') words.push('--group', quoted(group.trim()))
  if (lifetime !== '') words.push('--expires-in', quoted(lifetime))
  return words.join(' ')
}
