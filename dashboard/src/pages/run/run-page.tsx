import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'wouter'
import type { RunDetails } from '../../api/client.ts'
import { useMay } from '../../api/may.ts'
import { runQuery } from '../../api/queries.ts'
import { Card } from '../../parts/card.tsx'
import { JsonText } from '../../parts/json-text.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { ProgressBar } from '../../runs/progress-bar.tsx'
import { endingError, isWrong } from '../../runs/standing.ts'
import { Attempts } from './attempts.tsx'
import { Commands } from './commands.tsx'
import { RunFacts } from './facts.tsx'
import { RunActions } from './run-actions.tsx'
import { Snapshot } from './snapshot.tsx'

const WRONG = 'border-bad/40 bg-bad-tint text-bad'
const QUIET = 'border-line bg-surface'

/** All about one run. */
export function RunPage() {
  const { id = '' } = useParams()
  const query = useQuery(runQuery(id))
  const mayAct = useMay('operator')
  const run = query.data?.run
  return (
    <Page title={run ? `Run of ${run.job}` : 'Run'}>
      <div className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
        <Link href="/runs" className="text-accent underline-offset-2 hover:underline">
          All runs
        </Link>
        <code className="font-mono text-muted text-xs [overflow-wrap:anywhere]">{id}</code>
      </div>
      {run && mayAct && <RunActions key={id} run={run} />}
      <Loaded query={query}>{(details) => <Told details={details} />}</Loaded>
    </Page>
  )
}

function Told({ details }: { details: RunDetails }) {
  const { run, attempts } = details
  const { progress, state } = run
  const error = endingError(run)
  return (
    <>
      {error !== null && (
        <div className={`rounded-lg border px-4 py-2.5 ${isWrong(run) ? WRONG : QUIET}`}>
          <code className="font-mono text-xs">{error.code}</code>
          <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{error.message}</p>
        </div>
      )}
      {progress !== null && state === 'running' && (
        <div className="rounded-lg border border-line bg-surface px-4 py-3">
          <ProgressBar progress={progress} />
        </div>
      )}
      <RunFacts details={details} />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4 xl:grid-cols-[repeat(auto-fit,minmax(24rem,1fr))]">
        <Value title="Input" value={run.input} />
        {run.result !== null && <Value title="Result" value={run.result} />}
        {run.totals !== null && <Value title="Totals" value={run.totals} />}
      </div>
      {attempts.length > 0 && <Attempts attempts={attempts} />}
      <Snapshot details={details} />
      <Commands run={run} />
    </>
  )
}

function Value({ title, value }: { title: string; value: unknown }) {
  return (
    <Card title={title}>
      <div className="p-3">
        <JsonText label={`${title} as JSON`} value={value} />
      </div>
    </Card>
  )
}
