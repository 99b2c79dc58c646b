import { Link } from 'wouter'
import type { Run } from '../../api/client.ts'
import { bodyCell, numberCell } from '../../parts/table.tsx'
import { Duration } from '../../runs/duration.tsx'
import { RunState } from '../../runs/run-state.tsx'
import { endingError, isWrong } from '../../runs/standing.ts'
import { ScheduleLink } from '../../schedules/schedule-link.tsx'
import { Moment } from '../../time/moment.tsx'

/** The time by which runs are listed, which is the one that is shown. */
export type ListedTime = 'plan' | 'end'

export function RunRow({ run, time }: { run: Run; time: ListedTime }) {
  const { id, job, state, trigger, attempt, scope, queue, schedule, scheduleId } = run
  const error = endingError(run)
  return (
    <tr>
      <th scope="row" className={`${bodyCell} w-full max-w-0`}>
        <Link
          href={`/runs/${id}`}
          className="font-medium underline-offset-2 [overflow-wrap:anywhere] hover:text-accent hover:underline"
        >
          {job}
        </Link>
        {error !== null && (
          <div
            className={`truncate text-xs ${isWrong(run) ? 'text-bad' : 'text-muted'}`}
            title={error.message}
          >
            {error.message.split('\n')[0]}
          </div>
        )}
        <div className="flex flex-wrap gap-x-3 text-muted text-xs">
          {schedule !== null && <ScheduleLink name={schedule} className="text-ink" />}
          {schedule === null && scheduleId !== null && <span>its schedule is deleted</span>}
          <span className="min-w-0 truncate font-mono">{id}</span>
          {queue !== 'default' && <span>in {queue}</span>}
          {scope !== null && scope !== 'global' && <span>for {scope}</span>}
        </div>
        <div className="flex flex-wrap gap-x-3 text-muted text-xs md:hidden">
          <span>{trigger}</span>
          <Listed run={run} time={time} />
          <Duration run={run} />
        </div>
      </th>
      <td className={bodyCell}>
        <RunState state={state} />
      </td>
      <td className={`${bodyCell} max-md:hidden`}>{trigger}</td>
      <td className={`${bodyCell} whitespace-nowrap max-md:hidden`}>
        <Listed run={run} time={time} />
      </td>
      <td className={`${numberCell} max-md:hidden`}>
        <Duration run={run} />
      </td>
      <td className={`${numberCell} max-lg:hidden`}>{attempt === 0 ? '–' : attempt}</td>
    </tr>
  )
}

/** Its plan time, when it was asked for where it has none, or its end. */
function Listed({ run: { planTime, createdAt, finishedAt }, time }: { run: Run; time: ListedTime }) {
  return <Moment at={(time === 'end' ? finishedAt : planTime) ?? createdAt} show="local" />
}
