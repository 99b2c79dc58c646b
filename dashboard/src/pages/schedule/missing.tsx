import { Link } from 'wouter'
import { Empty } from '../../parts/empty.tsx'

/** There is no such schedule: it never was, or was renamed or deleted. */
export function Missing({ name }: { name: string }) {
  return (
    <div className="rounded-lg border border-line bg-surface">
      <Empty title={`There is no schedule “${name}”.`}>
        It may have been renamed or deleted, or be of a group that you do not see.{' '}
        <Link href="/schedules" className="text-accent underline underline-offset-2">
          Look among all schedules
        </Link>
        .
      </Empty>
    </div>
  )
}
