import { Link } from 'wouter'
import type { Schedule } from '../../api/client.ts'
import { Dash, Fact, Facts, When } from '../../parts/fact.tsx'
import { zoneOf } from '../../schedules/timing-words.ts'
import { count } from '../../time/format.ts'

const linkStyle = 'text-accent underline-offset-2 [overflow-wrap:anywhere] hover:underline'

/** What it runs, for whom, and since when. */
export function ScheduleFacts({ schedule }: { schedule: Schedule }) {
  const { job, group, queue, priority, scopes, version, limit, startAt, endAt, createdAt } = schedule
  const zone = zoneOf(schedule.timing)
  return (
    <Facts>
      <Fact name="Job">
        <Link href={`/runs?job=${encodeURIComponent(job)}`} className={linkStyle}>
          {job}
        </Link>
      </Fact>
      <Fact name="Group">
        {group === null ? (
          <Dash />
        ) : (
          <Link href={`/schedules?group=${encodeURIComponent(group)}`} className={linkStyle}>
            {group}
          </Link>
        )}
      </Fact>
      <Fact name="Queue">
        {queue} <span className="text-muted">priority {priority}</span>
      </Fact>
      <Fact name="Scopes">
        <Scopes scopes={scopes} />
      </Fact>
      <Fact name="Begins">
        <When at={startAt} zone={zone} />
      </Fact>
      <Fact name="Ends">
        {endAt === null && limit === null && <span className="text-muted">never</span>}
        {endAt !== null && <When at={endAt} zone={zone} />}
        {limit !== null && <div>after {count(limit)} plan times</div>}
      </Fact>
      <Fact name="Created">
        <When at={createdAt} zone={zone} />
      </Fact>
      <Fact name="Changed">
        <When at={schedule.updatedAt} zone={zone} />
        <div className="text-muted">version {version}</div>
      </Fact>
    </Facts>
  )
}

/** More than these are told by their number. */
const SHOWN_SCOPES = 8

function Scopes({ scopes }: Pick<Schedule, 'scopes'>) {
  if (scopes === null) return <span className="text-muted">as its job gives them</span>
  const rest = scopes.length - SHOWN_SCOPES
  return (
    <>
      {scopes.slice(0, SHOWN_SCOPES).join(', ')}
      {rest > 0 && <span className="text-muted"> and {count(rest)} more</span>}
    </>
  )
}
