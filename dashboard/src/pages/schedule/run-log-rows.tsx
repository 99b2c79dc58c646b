import { Link } from 'wouter'
import type { Result } from '../../../../src/http-client/index.js'
import { Badge } from '../../parts/badge.tsx'
import { bodyCell, numberCell } from '../../parts/table.tsx'
import { Duration } from '../../runs/duration.tsx'
import { RunState } from '../../runs/run-state.tsx'
import { endingError, isWrong } from '../../runs/standing.ts'
import { Moment } from '../../time/moment.tsx'
import { SKIP_WORDS } from './skip-words.ts'
import { totalsWords } from './totals.ts'

type Entry = Result<'listHistory'>['entries'][number]
type Run = NonNullable<Entry['run']>

interface RowProps {
  entry: Entry
  /** That of the schedule. */
  zone: string | undefined
}

const firstCell = `${bodyCell} w-full max-w-0 md:min-w-48`

/** Where there is little room, what has no column is told under the plan time. */
export function RunRow({ entry: { at, scope, firstPlanTime }, run, zone }: RowProps & { run: Run }) {
  const error = endingError(run)
  const totals = totalsWords(run.totals)
  return (
    <tr>
      <th scope="row" className={firstCell}>
        <Link
          href={`/runs/${run.id}`}
          className="font-medium underline-offset-2 hover:text-accent hover:underline"
        >
          <Moment at={at} zone={zone} show="exact" />
        </Link>
        {firstPlanTime === null && <span className="text-muted text-xs"> when it was asked for</span>}
        <Scope scope={scope} />
        {error !== null && (
          <div
            className={`truncate text-xs ${isWrong(run) ? 'text-bad' : 'text-muted'}`}
            title={error.message}
          >
            {error.message.split('\n')[0]}
          </div>
        )}
        <div className="flex flex-wrap gap-x-3 text-muted text-xs md:hidden">
          <span>{run.trigger}</span>
          {run.startedAt !== null && (
            <span>
              <Clock at={run.startedAt} zone={zone} /> –{' '}
              {run.finishedAt !== null && <Clock at={run.finishedAt} zone={zone} />}
            </span>
          )}
          <Duration run={run} />
        </div>
        {totals !== '' && <div className="text-muted text-xs lg:hidden">{totals}</div>}
      </th>
      <td className={bodyCell}>
        <RunState state={run.state} />
      </td>
      <td className={`${bodyCell} max-md:hidden`}>{run.trigger}</td>
      <td className={`${bodyCell} max-md:hidden`}>
        <Clock at={run.startedAt} zone={zone} />
      </td>
      <td className={`${bodyCell} max-md:hidden`}>
        <Clock at={run.finishedAt} zone={zone} />
      </td>
      <td className={`${numberCell} max-md:hidden`}>
        <Duration run={run} />
      </td>
      <td className={`${bodyCell} min-w-44 max-lg:hidden`}>
        {totals || <span className="text-muted">–</span>}
      </td>
    </tr>
  )
}

/** One plan time, or a range of them, that did not run. */
export function SkipRow({ entry, zone }: RowProps) {
  const { scope, firstPlanTime, lastPlanTime, reason } = entry
  const [first, last] = [firstPlanTime ?? entry.at, lastPlanTime ?? entry.at]
  return (
    <tr>
      <th scope="row" className={firstCell}>
        <Moment at={first} zone={zone} show="exact" />
        {first !== last && (
          <>
            {' – '}
            <Moment at={last} zone={zone} show="exact" />
          </>
        )}
        <Scope scope={scope} />
        {reason !== null && <div className="text-muted text-xs md:hidden">{SKIP_WORDS[reason]}</div>}
      </th>
      <td className={bodyCell}>
        <Badge tone="quiet">skipped</Badge>
      </td>
      <td colSpan={5} className={`${bodyCell} text-muted max-md:hidden`}>
        {reason !== null && SKIP_WORDS[reason]}
      </td>
    </tr>
  )
}

function Clock({ at, zone }: { at: string | null; zone: string | undefined }) {
  return at === null ? <span className="text-muted">–</span> : <Moment at={at} zone={zone} show="exact" />
}

function Scope({ scope }: { scope: string }) {
  if (scope === '' || scope === 'global') return null
  return <span className="text-muted text-xs [overflow-wrap:anywhere]"> for {scope}</span>
}
