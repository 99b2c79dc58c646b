import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { runsQuery } from '../../api/queries.ts'
import { Listing } from '../../parts/listing.tsx'
import { Page } from '../../parts/page.tsx'
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
  const clear = () => {
    change(NOTHING)
    setCleared(cleared + 1)
  }
  return (
    <Page title="Runs">
      <Filters key={cleared} filter={values} onChange={change} />
      <Listing
        page={data && { count: data.runs.length, nextPageToken: data.nextPageToken }}
        pageToken={pageToken}
        error={error}
        isBusy={isPlaceholderData}
        empty={<NoRuns isFiltered={isFiltered} onClear={clear} />}
      >
        <RunTable runs={data?.runs ?? []} />
      </Listing>
    </Page>
  )
}
