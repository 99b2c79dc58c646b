import { z } from 'zod'
import { requestInvalid } from '../checking.js'
import { routesOf, spec } from '../route.js'
import { id, limitOf, nextPageToken } from '../schemas/basics.js'
import { NewToken, Token, TokenRequest } from '../schemas/token.js'

const common = { role: 'admin', groups: 'refused', tag: 'Tokens' } as const
const MAX_PAGE = 500

export const TOKEN_SPECS = {
  listTokens: spec({
    ...common,
    method: 'get',
    path: '/tokens',
    summary: 'List tokens, newest first',
    query: z.strictObject({ limit: limitOf(MAX_PAGE), pageToken: id.exactOptional() }),
    answer: z.object({ tokens: z.array(Token), nextPageToken }),
    problems: ['option_invalid'],
  }),
  createToken: spec({
    ...common,
    method: 'post',
    path: '/tokens',
    summary: 'Make a token',
    description:
      'The answer has its text, once. From the first token on, no request is answered without one, whatever becomes of it.',
    body: TokenRequest,
    answer: NewToken,
    problems: ['option_invalid'],
  }),
  revokeToken: spec({
    ...common,
    method: 'delete',
    path: '/tokens/{id}',
    summary: 'Revoke a token, and sessions that were opened with it',
    params: z.object({ id }),
    answer: null,
    problems: ['token_not_found'],
  }),
}

export const tokenRoutes = routesOf(TOKEN_SPECS, {
  async listTokens({ escapement, query: { limit, pageToken } }) {
    const after = pageToken === undefined ? {} : { after: pageToken }
    const found = await escapement.tokens.list({ ...after, limit: limit + 1 })
    const tokens = found.slice(0, limit)
    return { tokens, nextPageToken: found.length > limit ? tokens.at(-1)!.id : null }
  },
  createToken({ escapement, body, actor, identity }) {
    // From then on this machine is asked for a token too.
    if (identity.via === 'local' && (body.role !== 'admin' || body.group !== undefined)) {
      throw requestInvalid([
        {
          field: 'role',
          message: 'the first token must be one of an admin without a group: nobody could make another',
        },
      ])
    }
    return escapement.tokens.create({ ...body, actor })
  },
  revokeToken: ({ escapement, params, actor }) => escapement.tokens.revoke(params.id, { actor }),
})
