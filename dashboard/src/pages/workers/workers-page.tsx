import { Page } from '../../parts/page.tsx'
import { Workers } from '../../workers/workers.tsx'
import { Jobs } from './jobs.tsx'

/** Who works, and what there is that somebody must be able to do. */
export function WorkersPage() {
  return (
    <Page title="Workers">
      <Workers />
      <Jobs />
    </Page>
  )
}
