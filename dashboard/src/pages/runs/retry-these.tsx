import { client } from '../../api/client.ts'
import { useSeesAll } from '../../api/may.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { Terminal } from '../../parts/terminal.tsx'
import { useCurl } from '../../parts/use-curl.ts'
import { type Filter, retriedInWords, retryCommand, retryFilterOf, statesOf } from './filter-words.ts'

/** Gives all failed runs that the filter finds one more attempt, on whatever page they are. */
export function RetryThese({ filter, onDone }: { filter: Filter; onDone: (told: string) => void }) {
  const wanted = retryFilterOf(filter, useSeesAll())
  const isAll = Object.keys(wanted).length === 0
  const isOnlyFailed = statesOf(filter).length === 1
  const curl = useCurl()
  return (
    <ActionDialog
      opener={isOnlyFailed ? 'Retry these…' : 'Retry the failed ones…'}
      title="Retry failed runs"
      verb="Retry"
      action={async () => onDone(retriedInWords(await client.runs.retryAll(wanted)))}
      renews={['runs', 'stats', 'queues', 'schedules']}
    >
      {isAll ? (
        <p className="rounded-md bg-warn-tint px-3 py-2 text-warn">
          <strong className="font-semibold">All failed runs.</strong> No other filter is set: each one that
          has failed is tried again.
        </p>
      ) : (
        <p>All failed runs that the filter finds, on all pages.</p>
      )}
      <p className="text-muted">
        Each gets one more attempt, now. Where runs of a schedule must not overlap, one of them is taken, and
        the others must wait until it has ended.
      </p>
      <Terminal command={retryCommand(wanted)} curl={curl('POST', '/runs/retry', wanted)} />
    </ActionDialog>
  )
}
