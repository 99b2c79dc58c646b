import { Link } from 'wouter'

/** Above a table that is all empty. */
export function NothingPlanned({ isFiltered }: { isFiltered: boolean }) {
  return (
    <p className="text-muted">
      {isFiltered
        ? 'Nothing of that queue and group is planned in what is left of this week. Both must be exact.'
        : 'No active schedule has a plan time in what is left of this week. '}
      {!isFiltered && (
        <Link href="/schedules" className="text-accent underline underline-offset-2">
          See the schedules
        </Link>
      )}
    </p>
  )
}
