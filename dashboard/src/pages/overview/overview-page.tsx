import { useQuery } from '@tanstack/react-query'
import { useMay, useSeesAll } from '../../api/may.ts'
import { claimingQuery } from '../../api/queries.ts'
import { PauseClaiming } from '../../claiming/pause-claiming.tsx'
import { Page } from '../../parts/page.tsx'
import { Workers } from '../../workers/workers.tsx'
import { Failures } from './failures.tsx'
import { Figures } from './figures.tsx'
import { HealthLine } from './health-line.tsx'
import { Herd } from './herd.tsx'
import { History } from './history/history.tsx'
import { Queues } from './queues.tsx'

/** How things are, and what is coming. */
export function OverviewPage() {
  const seesAll = useSeesAll()
  const mayAct = useMay('operator')
  const claiming = useQuery({ ...claimingQuery, enabled: seesAll }).data
  if (!seesAll) {
    return (
      <Page title="Overview">
        <p className="text-muted">Your token is for one group; figures, queues and workers are of all.</p>
        <Failures />
      </Page>
    )
  }
  return (
    <Page title="Overview" actions={mayAct && claiming?.paused === false && <PauseClaiming />}>
      <HealthLine />
      <Figures />
      <History />
      <Herd />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4 xl:grid-cols-[repeat(2,minmax(0,1fr))]">
        <Queues />
        <Failures />
      </div>
      <Workers />
    </Page>
  )
}
