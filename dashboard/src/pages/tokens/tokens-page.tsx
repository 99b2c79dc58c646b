import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'wouter'
import { useMay } from '../../api/may.ts'
import { Card } from '../../parts/card.tsx'
import { CopyCommand } from '../../parts/copy-command.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Listing } from '../../parts/listing.tsx'
import { Page } from '../../parts/page.tsx'
import { useCurl } from '../../parts/use-curl.ts'
import { MakeToken } from './make-token.tsx'
import { NewTokenCard } from './new-token-card.tsx'
import { tokensQuery } from './queries.ts'
import { TokenTable } from './token-table.tsx'

/** Who may use the API and the dashboard; for admins. */
export function TokensPage() {
  const isAdmin = useMay('admin')
  if (isAdmin) return <Tokens />
  return (
    <Page title="Tokens">
      <p className="text-muted">Tokens are for admins: ask one of them for what you need.</p>
    </Page>
  )
}

function Tokens() {
  const curl = useCurl()
  const [params] = useSearchParams()
  const pageToken = params.get('pageToken') ?? undefined
  const { data, error, isPlaceholderData } = useQuery(tokensQuery(pageToken))
  return (
    <Page title="Tokens" actions={<MakeToken />}>
      <p className="max-w-prose text-muted">
        With a token programs use the API and the command line, and people log in here. Each has a role, and
        may be limited to one group.
      </p>
      <NewTokenCard />
      <Listing
        page={data && { count: data.tokens.length, nextPageToken: data.nextPageToken }}
        pageToken={pageToken}
        error={error}
        isBusy={isPlaceholderData}
        empty={
          <Empty title="No tokens yet." command="escapement tokens create me --role admin">
            Nobody but this machine is answered, and here everybody may do everything. Make the first one
            above, or from a terminal:
          </Empty>
        }
      >
        <TokenTable tokens={data?.tokens ?? []} />
      </Listing>
      {data && data.tokens.length > 0 && (
        <Card title="From a terminal">
          <div className="grid grid-cols-[minmax(0,1fr)] gap-2 p-4">
            <CopyCommand command="escapement tokens list" />
            <CopyCommand command={curl('GET', '/tokens')} />
          </div>
        </Card>
      )}
    </Page>
  )
}
