import { Link } from 'wouter'
import type { Result } from '../../../../src/http-client/index.js'
import { Moment } from '../../time/moment.tsx'
import { actWords } from './act-words.ts'

type Change = Result<'listChanges'>['changes'][number]

/** What was done, with a link to what it made. */
export function Act({ change, zone }: { change: Change; zone: string | undefined }) {
  const { action, before, after, name } = change
  const { words, runId, planTime } = actWords(action, before === null && after !== null)
  return (
    <>
      <span className="font-medium">{words}</span>
      {runId !== undefined && (
        <>
          {' '}
          <Link href={`/runs/${runId}`} className="text-accent underline-offset-2 hover:underline">
            its run
          </Link>
        </>
      )}
      {planTime !== undefined && (
        <>
          {' '}
          <Moment at={planTime} zone={zone} show="exact" />
        </>
      )}
      {action === 'rename' && name !== null && ` to ${name}`}
    </>
  )
}
