import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { EscapementError } from '../../api/client.ts'
import { schedulesQuery } from '../../api/queries.ts'
import { Failure } from '../../parts/failure.tsx'
import { Page } from '../../parts/page.tsx'
import { Pager } from '../../parts/pager.tsx'
import { Filters } from './filters.tsx'
import { NoSchedules } from './no-schedules.tsx'
import { ScheduleTable } from './schedule-table.tsx'
import { PAGE_SIZE, useFilter } from './use-filter.ts'

/** All schedules by name, a page at a time; what is searched for is in the address. */
export function SchedulesPage() {
  const { filter, isFiltered, change, pageToken } = useFilter()
  const query = useQuery(
    schedulesQuery({ ...filter, limit: PAGE_SIZE, ...(pageToken !== undefined && { pageToken }) }),
  )
  const [focused, setFocused] = useState(0)
  const { data, error, isPlaceholderData } = query
  // A token is of one filter, and of one server.
  const isOldToken =
    pageToken !== undefined && error instanceof EscapementError && error.code === 'option_invalid'
  const clear = () => {
    change({ q: '', state: '', group: '', job: '' })
    setFocused(focused + 1)
  }
  return (
    <Page title="Schedules">
      <Filters key={focused} filter={filter} onChange={change} />
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
          {data.schedules.length > 0 && <ScheduleTable schedules={data.schedules} onFilter={change} />}
          {data.schedules.length === 0 && data.nextPageToken === null && pageToken === undefined && (
            <NoSchedules isFiltered={isFiltered} onClear={clear} />
          )}
          {data.schedules.length === 0 && (data.nextPageToken !== null || pageToken !== undefined) && (
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
