import { Badge, type Tone } from '../../parts/badge.tsx'
import { Head } from '../../parts/head.tsx'
import { bodyCell, Table } from '../../parts/table.tsx'
import { Moment } from '../../time/moment.tsx'
import type { Token } from './queries.ts'
import { RevokeToken } from './revoke-token.tsx'

const TONES: Readonly<Record<Token['state'], Tone>> = { live: 'good', expired: 'quiet', revoked: 'bad' }

/** Where there is little room, what has no column is told under the name. */
export function TokenTable({ tokens }: { tokens: readonly Token[] }) {
  return (
    <Table label="Tokens">
      <Head
        columns={['Token of', 'State', 'May', 'Last used', 'Ends', 'Action']}
        middle={['May', 'Last used']}
        wide={['Ends']}
        heard={['Action']}
      />
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
