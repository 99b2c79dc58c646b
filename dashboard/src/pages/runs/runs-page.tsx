import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { EscapementError } from '../../api/client.ts'
import { runsQuery } from '../../api/queries.ts'
import { Failure } from '../../parts/failure.tsx'
import { Page } from '../../parts/page.tsx'
import { Pager } from '../../parts/pager.tsx'
import { Filters } from './filters.tsx'
import { NoRuns } from './no-runs.tsx'
import { RunTable } from './run-table.tsx'
import { PAGE_SIZE, queryOf, useFilter } from './use-filter.ts'

const NOTHING = { state: '', job: '', queue: '', schedule: '', trigger: '', from: '', to: '' }

/** All runs, newest first, a page at a time; what is searched for is in the address. */
export function RunsPage() {
  const { values, isFiltered, change, pageToken } = useFilter()
  const { data, error, isPlaceholderData } = useQuery(
    runsQuery({ ...queryOf(values), limit: PAGE_SIZE, ...(pageToken !== undefined && { pageToken }) }),
  )
  const [cleared, setCleared] = useState(0)
  // A token is of one filter, and of one server.
  const isOldToken =
    pageToken !== undefined && error instanceof EscapementError && error.code === 'option_invalid'
  const isFirstAndLast = pageToken === undefined && data?.nextPageToken === null
  const clear = () => {
    change(NOTHING)
    setCleared(cleared + 1)
  }
  return (
    <Page title="Runs">
      <Filters key={cleared} filter={values} onChange={change} />
      {error && (
        <Failure
          error={error}
          {...(isOldToken && { what: 'This page is not there any more: go to the first.' })}
        />
      )}
      {data && (
        <div
          aria-busy={isPlaceholderData}
          className={`min-w-0 overflow-hidden rounded-lg border border-line bg-surface ${isPlaceholderData ? 'opacity-60' : ''}`}
        >
          {data.runs.length > 0 && <RunTable runs={data.runs} />}
          {data.runs.length === 0 && isFirstAndLast && <NoRuns isFiltered={isFiltered} onClear={clear} />}
          {data.runs.length === 0 && !isFirstAndLast && (
            <p className="p-4 text-muted">
              {data.nextPageToken === null
                ? 'There are no more.'
                : 'None among those that were looked through; there may be more on the next page.'}
            </p>
          )}
        </div>
      )}
      <Pager pageToken={pageToken} next={data?.nextPageToken ?? null} />
    </Page>
  )
}
