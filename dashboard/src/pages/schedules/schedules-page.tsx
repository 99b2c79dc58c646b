import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { useMay } from '../../api/may.ts'
import { schedulesQuery } from '../../api/queries.ts'
import { buttonStyle } from '../../parts/button.tsx'
import { Listing } from '../../parts/listing.tsx'
import { Page } from '../../parts/page.tsx'
import { Told } from '../../parts/told.tsx'
import { RecentLegend } from '../../schedules/recent-strip.tsx'
import { BulkActions } from './bulk-actions.tsx'
import { Filters } from './filters.tsx'
import { NoSchedules } from './no-schedules.tsx'
import { ScheduleTable } from './schedule-table.tsx'
import { PAGE_SIZE, RECENT, useFilter } from './use-filter.ts'

/** All schedules by name, a page at a time; what is searched for is in the address. */
export function SchedulesPage() {
  const { filter, isFiltered, change, pageToken } = useFilter()
  const query = useQuery(
    schedulesQuery({
      ...filter,
      limit: PAGE_SIZE,
      recent: RECENT,
      ...(pageToken !== undefined && { pageToken }),
    }),
  )
  const mayPut = useMay('admin')
  const [focused, setFocused] = useState(0)
  const { data, error, isPlaceholderData } = query
  const clear = () => {
    change({ q: '', state: '', group: '', job: '' })
    setFocused(focused + 1)
  }
  const mayAct = useMay('operator')
  const [told, setTold] = useState('')
  const hasSome = data !== undefined && data.schedules.length > 0
  return (
    <Page
      title="Schedules"
      actions={
        <div className="flex flex-wrap gap-2">
          {mayAct && (hasSome || isFiltered) && (
            <BulkActions key={JSON.stringify(filter)} filter={filter} onDone={setTold} />
          )}
          {mayPut && (
            <Link href="/new-schedule" className={buttonStyle('main')}>
              New schedule
            </Link>
          )}
        </div>
      }
    >
      <Filters key={focused} filter={filter} onChange={change} />
      <Told>{told}</Told>
      <Listing
        page={data && { count: data.schedules.length, nextPageToken: data.nextPageToken }}
        pageToken={pageToken}
        error={error}
        isBusy={isPlaceholderData}
        empty={<NoSchedules isFiltered={isFiltered} onClear={clear} />}
      >
        <ScheduleTable schedules={data?.schedules ?? []} onFilter={change} />
      </Listing>
      {hasSome && <RecentLegend count={RECENT} />}
    </Page>
  )
}
