import { Link } from 'wouter'
import { schedulePath } from './schedule-path.ts'

/** The name of a schedule, which leads to it. */
export function ScheduleLink({ name, className = '' }: { name: string; className?: string }) {
  return (
    <Link
      href={schedulePath(name)}
      className={`underline-offset-2 [overflow-wrap:anywhere] hover:text-accent hover:underline ${className}`}
    >
      {name}
    </Link>
  )
}
