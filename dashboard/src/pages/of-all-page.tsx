import { Page } from '../parts/page.tsx'

/** Instead of what is of all groups, for a token of one. */
export function OfAllPage() {
  return (
    <Page title="Not for one group">
      <p className="text-muted">Your token is for one group, and what is shown here is of all of them.</p>
    </Page>
  )
}
