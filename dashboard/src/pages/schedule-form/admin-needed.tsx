import { Link } from 'wouter'

/** For whoever has come by a link, and may not. */
export function AdminNeeded({ verb }: { verb: string }) {
  return (
    <p className="text-muted">
      To {verb} a schedule takes the role “admin”, which you do not have here. Ask somebody who has it, or{' '}
      <Link href="/schedules" className="text-accent underline underline-offset-2">
        look at the schedules
      </Link>
      .
    </p>
  )
}
