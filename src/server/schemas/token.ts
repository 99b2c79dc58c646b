import { z } from 'zod'
import { id, instant, instantInput, label } from './basics.js'

const role = z.enum(['viewer', 'operator', 'admin'])

export const Token = z
  .object({
    id,
    name: z.string(),
    role,
    group: z.string().nullable(),
    state: z.enum(['live', 'expired', 'revoked']),
    createdAt: instant,
    createdBy: z.string().nullable(),
    expiresAt: instant.nullable(),
    revokedAt: instant.nullable(),
    revokedBy: z.string().nullable(),
    lastUsedAt: instant.nullable().describe('To the minute.'),
  })
  .meta({ id: 'Token' })

export const NewToken = Token.extend({
  token: z.string().describe('Shown this once: what is stored cannot give it back.'),
}).meta({ id: 'NewToken' })

export const TokenRequest = z
  .strictObject({
    name: label.describe('Who or what uses it: the actor of what is done with it.'),
    role,
    group: label.exactOptional().describe('Limits it to the schedules of this group and their runs.'),
    expiresAt: instantInput.exactOptional(),
  })
  .meta({ id: 'TokenRequest' })

export const Session = z
  .object({
    name: z.string(),
    role,
    group: z.string().nullable(),
    via: z.enum(['local', 'token', 'session', 'custom']),
    csrfToken: z
      .string()
      .nullable()
      .describe(
        'What requests that change something must carry in `X-CSRF-Token` when the cookie opens them.',
      ),
  })
  .meta({ id: 'Session' })
