import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'wouter'
import type { Result } from '../../../../src/http-client/index.js'
import type { Schedule } from '../../api/client.ts'
import { Head } from '../../parts/head.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { PagedCard } from '../../parts/paged-card.tsx'
import { bodyCell, Table } from '../../parts/table.tsx'
import { zoneOf } from '../../schedules/timing-words.ts'
import { count } from '../../time/format.ts'
import { historyQuery } from './queries.ts'
import { RunRow, SkipRow } from './run-log-rows.tsx'
import { summed, totalsWords } from './totals.ts'

const PAGE = 'runsPage'

type Entry = Result<'listHistory'>['entries'][number]

/** What became of it, newest first: its runs, and plan times that were skipped. */
export function RunLog({ schedule: { name, timing } }: { schedule: Schedule }) {
  const [params] = useSearchParams()
  const pageToken = params.get(PAGE) ?? undefined
  const query = useQuery(historyQuery(name, pageToken))
  const zone = zoneOf(timing)
  return (
    <PagedCard title="Run log" field={PAGE} pageToken={pageToken} next={query.data?.nextPageToken}>
      <Loaded query={query}>
        {({ entries }) =>
          entries.length === 0 ? (
            <p className="px-4 py-6 text-center text-muted">
              {pageToken === undefined
                ? 'Nothing has become of it yet: the first entry is made when its first plan time comes, or when somebody triggers it.'
                : 'There are no more.'}
            </p>
          ) : (
            <div aria-busy={query.isPlaceholderData} className={query.isPlaceholderData ? 'opacity-60' : ''}>
              <Entries entries={entries} zone={zone} />
            </div>
          )
        }
      </Loaded>
    </PagedCard>
  )
}

function Entries({ entries, zone }: { entries: readonly Entry[]; zone: string | undefined }) {
  return (
    <Table label="Run log">
      <Head
        columns={['Plan time', 'Status', 'Trigger', 'Started', 'Finished', 'Took', 'Totals']}
        numbers={['Took']}
        middle={['Trigger', 'Started', 'Finished', 'Took']}
        wide={['Totals']}
      />
      <tbody>
        {entries.map((entry) =>
          entry.run === null ? (
            <SkipRow key={`${entry.at} ${entry.scope}`} entry={entry} zone={zone} />
          ) : (
            <RunRow key={entry.run.id} entry={entry} run={entry.run} zone={zone} />
          ),
        )}
      </tbody>
      {entries.some(({ run }) => run !== null) && (
        <tfoot>
          <tr>
            <td colSpan={7} className={`${bodyCell} border-t text-muted text-xs`}>
              {sumWords(entries)}
            </td>
          </tr>
        </tfoot>
      )}
    </Table>
  )
}

/** What is on this page, together. */
function sumWords(entries: readonly Entry[]): string {
  const runs = entries.flatMap(({ run }) => run ?? [])
  const failed = runs.filter(({ state }) => state === 'failed').length
  const totals = totalsWords(summed(runs.map((run) => run.totals)))
  return [
    `On this page: ${count(runs.length)} ${runs.length === 1 ? 'run' : 'runs'}`,
    ...(failed > 0 ? [`${count(failed)} failed`] : []),
    ...(totals === '' ? [] : [`in total ${totals}`]),
  ].join(', ')
}
