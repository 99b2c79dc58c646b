import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useMay, useSeesAll } from '../../api/may.ts'
import { runsQuery } from '../../api/queries.ts'
import { Listing } from '../../parts/listing.tsx'
import { Page } from '../../parts/page.tsx'
import { Told } from '../../parts/told.tsx'
import { isByEnd, queryOf, statesOf } from './filter-words.ts'
import { Filters } from './filters.tsx'
import { NoRuns } from './no-runs.tsx'
import { RetryThese } from './retry-these.tsx'
import { RunTable } from './run-table.tsx'
import { PAGE_SIZE, useFilter } from './use-filter.ts'

const NOTHING = { state: '', job: '', queue: '', schedule: '', trigger: '', from: '', to: '' }

/** All runs, newest first, a page at a time; what is searched for is in the address. */
export function RunsPage() {
  const { values, isFiltered, change, pageToken } = useFilter()
  const { data, error, isPlaceholderData } = useQuery(
    runsQuery({ ...queryOf(values), limit: PAGE_SIZE, ...(pageToken !== undefined && { pageToken }) }),
  )
  const time = isByEnd(values, useSeesAll()) ? 'end' : 'plan'
  const [cleared, setCleared] = useState(0)
  const clear = () => {
    change(NOTHING)
    setCleared(cleared + 1)
  }
  const mayAct = useMay('operator')
  const [told, setTold] = useState('')
  const canRetry = mayAct && statesOf(values).includes('failed')
  return (
    <Page
      title="Runs"
      actions={canRetry && <RetryThese key={JSON.stringify(values)} filter={values} onDone={setTold} />}
    >
      <Filters key={cleared} filter={values} onChange={change} />
      <Told>{told}</Told>
      <Listing
        page={data && { count: data.runs.length, nextPageToken: data.nextPageToken }}
        pageToken={pageToken}
        error={error}
        isBusy={isPlaceholderData}
        empty={<NoRuns isFiltered={isFiltered} onClear={clear} />}
      >
        <RunTable runs={data?.runs ?? []} time={time} />
      </Listing>
    </Page>
  )
}
