import type { RunDetails } from '../../api/client.ts'
import { Card } from '../../parts/card.tsx'
import { TextBlock } from '../../parts/json-text.tsx'
import { Moment } from '../../time/moment.tsx'
import { span } from '../../time/relative.ts'

type Attempt = RunDetails['attempts'][number]

/** The tries that failed, oldest first; where in the code, for whoever opens one. */
export function Attempts({ attempts }: { attempts: readonly Attempt[] }) {
  return (
    <Card title="Failed attempts">
      <ol className="divide-y divide-line">
        {attempts.map((attempt) => (
          <li key={attempt.number} className="grid grid-cols-[minmax(0,1fr)] gap-1 px-4 py-2.5">
            <div className="flex flex-wrap items-baseline justify-between gap-x-3">
              <span className="font-medium">Attempt {attempt.number}</span>
              <span className="text-muted text-xs">
                <Moment at={attempt.finishedAt} />
                {attempt.startedAt !== null && ` after ${tookOf(attempt.startedAt, attempt.finishedAt)}`}
              </span>
            </div>
            <div className="text-bad [overflow-wrap:anywhere]">{attempt.error.message.split('\n')[0]}</div>
            <div className="flex flex-wrap gap-x-3 text-muted text-xs">
              <span>{attempt.error.code}</span>
              {attempt.workerId !== null && (
                <span className="min-w-0 truncate font-mono">{attempt.workerId}</span>
              )}
            </div>
            {attempt.error.stack !== null && (
              <details>
                <summary className="w-fit cursor-pointer text-accent text-xs">Stack</summary>
                <div className="mt-1.5">
                  <TextBlock label={`Stack of attempt ${attempt.number}`} text={attempt.error.stack} />
                </div>
              </details>
            )}
          </li>
        ))}
      </ol>
    </Card>
  )
}

function tookOf(startedAt: string, finishedAt: string): string {
  return span(Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt)))
}
