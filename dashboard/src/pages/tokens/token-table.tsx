import { Badge, type Tone } from '../../parts/badge.tsx'
import { bodyCell, headCell, Table } from '../../parts/table.tsx'
import { Moment } from '../../time/moment.tsx'
import type { Token } from './queries.ts'
import { RevokeToken } from './revoke-token.tsx'

const TONES: Readonly<Record<Token['state'], Tone>> = { live: 'good', expired: 'quiet', revoked: 'bad' }

/** Where there is little room, what has no column is told under the name. */
export function TokenTable({ tokens }: { tokens: readonly Token[] }) {
  return (
    <Table label="Tokens">
      <thead>
        <tr>
          <th scope="col" className={headCell}>
            Token of
          </th>
          <th scope="col" className={headCell}>
            State
          </th>
          <th scope="col" className={`${headCell} max-md:hidden`}>
            May
          </th>
          <th scope="col" className={`${headCell} max-md:hidden`}>
            Last used
          </th>
          <th scope="col" className={`${headCell} max-lg:hidden`}>
            Ends
          </th>
          <th scope="col" className={headCell}>
            <span className="sr-only">Action</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {tokens.map((token) => (
          <TokenRow key={token.id} token={token} />
        ))}
      </tbody>
    </Table>
  )
}

function TokenRow({ token }: { token: Token }) {
  const { id, name, state, createdAt, createdBy } = token
  return (
    <tr>
      <th scope="row" className={`${bodyCell} w-full max-w-0`}>
        <div className="font-medium [overflow-wrap:anywhere]">{name}</div>
        <div className="text-muted text-xs">
          made <Moment at={createdAt} />
          {createdBy !== null && ` by ${createdBy}`}
        </div>
        <div className="truncate font-mono text-muted text-xs max-sm:hidden">{id}</div>
        <div className="grid text-muted text-xs md:hidden">
          <May token={token} />
          <span>
            last used: <LastUsed token={token} />
          </span>
        </div>
        <div className="text-muted text-xs lg:hidden">
          ends: <Ends token={token} />
        </div>
      </th>
      <td className={bodyCell}>
        <Badge tone={TONES[state]}>{state}</Badge>
      </td>
      <td className={`${bodyCell} max-md:hidden`}>
        <May token={token} />
      </td>
      <td className={`${bodyCell} whitespace-nowrap max-md:hidden`}>
        <LastUsed token={token} />
      </td>
      <td className={`${bodyCell} max-lg:hidden`}>
        <Ends token={token} />
      </td>
      <td className={bodyCell}>{state === 'live' && <RevokeToken token={token} />}</td>
    </tr>
  )
}

function May({ token: { role, group } }: { token: Token }) {
  return (
    <span className="block max-w-48 truncate" title={group ?? undefined}>
      {role}
      {group !== null && <span className="text-muted"> of {group}</span>}
    </span>
  )
}

function LastUsed({ token: { lastUsedAt } }: { token: Token }) {
  return lastUsedAt === null ? <span className="text-muted">never</span> : <Moment at={lastUsedAt} />
}

function Ends({ token: { state, expiresAt, revokedAt, revokedBy } }: { token: Token }) {
  if (state === 'revoked' && revokedAt !== null) {
    return (
      <span className="inline-block max-w-48 truncate align-bottom">
        revoked <Moment at={revokedAt} />
        {revokedBy !== null && ` by ${revokedBy}`}
      </span>
    )
  }
  return expiresAt === null ? (
    <span className="whitespace-nowrap text-muted">when it is revoked</span>
  ) : (
    <Moment at={expiresAt} />
  )
}
