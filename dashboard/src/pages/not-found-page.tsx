import { Link } from 'wouter'
import { Page } from '../parts/page.tsx'

export function NotFoundPage() {
  return (
    <Page title="Nothing here">
      <p className="text-muted">
        No view has this address.{' '}
        <Link href="/" className="text-accent underline underline-offset-2">
          Go to the overview
        </Link>
        .
      </p>
    </Page>
  )
}
