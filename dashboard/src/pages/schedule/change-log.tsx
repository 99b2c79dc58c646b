import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'wouter'
import type { Result } from '../../../../src/http-client/index.js'
import type { Schedule } from '../../api/client.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { PagedCard } from '../../parts/paged-card.tsx'
import { ChangedField } from '../../schedules/changed-field.tsx'
import { changedValues } from '../../schedules/changed-values.ts'
import { zoneOf } from '../../schedules/timing-words.ts'
import { Moment } from '../../time/moment.tsx'
import { Act } from './act.tsx'
import { changesQuery } from './queries.ts'

const PAGE = 'changesPage'

type Change = Result<'listChanges'>['changes'][number]

/** Who did what to it, newest first, and what that changed. */
export function ChangeLog({ schedule: { name, timing } }: { schedule: Schedule }) {
  const [params] = useSearchParams()
  const pageToken = params.get(PAGE) ?? undefined
  const query = useQuery(changesQuery(name, pageToken))
  const zone = zoneOf(timing)
  return (
    <PagedCard title="Change log" field={PAGE} pageToken={pageToken} next={query.data?.nextPageToken}>
      <Loaded query={query}>
        {({ changes }) => (
          <>
            <ol
              aria-busy={query.isPlaceholderData}
              className={`divide-y divide-line ${query.isPlaceholderData ? 'opacity-60' : ''}`}
            >
              {changes.map((change) => (
                <ChangeItem
                  key={`${change.changedAt} ${change.version} ${change.action}`}
                  change={change}
                  zone={zone}
                />
              ))}
            </ol>
            {changes.length === 0 && <p className="p-4 text-muted">There are no more.</p>}
          </>
        )}
      </Loaded>
    </PagedCard>
  )
}

function ChangeItem({ change, zone }: { change: Change; zone: string | undefined }) {
  const { actor, changedAt, version } = change
  const values = changedValues(change.before, change.after)
  return (
    <li className="grid grid-cols-[minmax(0,1fr)] gap-1 px-4 py-2.5">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        <span className="min-w-0 [overflow-wrap:anywhere]">
          <Act change={change} zone={zone} />
          {actor !== null && <span className="text-muted"> by {actor}</span>}
        </span>
        <span className="text-muted text-xs">
          version {version} · <Moment at={changedAt} zone={zone} show="exact" /> (
          <Moment at={changedAt} zone={zone} />)
        </span>
      </div>
      {values.length > 0 && (
        <ul className="grid gap-1 text-xs">
          {values.map((value) => (
            <ChangedField key={value.field} value={value} />
          ))}
        </ul>
      )}
    </li>
  )
}
