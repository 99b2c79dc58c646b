import { Link } from 'wouter'
import type { RunDetails } from '../../api/client.ts'
import { Dash, Fact, Facts, When } from '../../parts/fact.tsx'
import { Duration } from '../../runs/duration.tsx'
import { RunState } from '../../runs/run-state.tsx'
import { isOpen } from '../../runs/standing.ts'
import { ScheduleLink } from '../../schedules/schedule-link.tsx'
import { zoneOf } from '../../schedules/timing-words.ts'
import { count } from '../../time/format.ts'
import { Moment } from '../../time/moment.tsx'

const linkStyle = 'text-accent underline-offset-2 [overflow-wrap:anywhere] hover:underline'

/** What it is and where it stands, each with its name. */
export function RunFacts({ details: { run, schedule, snapshot, lease } }: { details: RunDetails }) {
  const zone = snapshot ? zoneOf(snapshot.timing) : undefined
  return (
    <Facts>
      <Fact name="State">
        <RunState state={run.state} />
      </Fact>
      <Fact name="Attempt">{run.attempt === 0 ? 'none yet' : count(run.attempt)}</Fact>
      <Fact name="Took">
        <Duration run={run} />
      </Fact>
      <Fact name="Job">
        <Link href={`/runs?job=${encodeURIComponent(run.job)}`} className={linkStyle}>
          {run.job}
        </Link>
      </Fact>
      <Fact name="Schedule">
        {schedule === null ? (
          <span className="text-muted">{run.scheduleId === null ? 'none' : 'deleted since'}</span>
        ) : (
          <ScheduleLink name={schedule} className="text-accent" />
        )}
        {run.scheduleVersion !== null && <span className="text-muted"> version {run.scheduleVersion}</span>}
      </Fact>
      <Fact name="Trigger">{run.trigger}</Fact>
      <Fact name="Plan time">
        <When at={run.planTime} zone={zone} />
      </Fact>
      <Fact name="Scope">{run.scope ?? <Dash />}</Fact>
      <Fact name="Queue">
        {run.queue} <span className="text-muted">priority {run.priority}</span>
      </Fact>
      <Fact name="Key">{run.key ?? <Dash />}</Fact>
      <Fact name="Asked for">
        <When at={run.createdAt} zone={zone} />
      </Fact>
      <Fact name={isOpen(run) && run.state !== 'running' ? 'May begin' : 'Began'}>
        <When at={isOpen(run) && run.state !== 'running' ? run.eligibleAt : run.startedAt} zone={zone} />
      </Fact>
      <Fact name="Ended">
        <When at={run.finishedAt} zone={zone} />
      </Fact>
      <Fact name="Lease">
        {lease === null ? (
          <Dash />
        ) : (
          <>
            ends <Moment at={lease.expiresAt} />
          </>
        )}
      </Fact>
      <Fact name="Worker" isWide>
        {run.workerId === null ? <Dash /> : <code className="font-mono text-xs">{run.workerId}</code>}
      </Fact>
    </Facts>
  )
}
