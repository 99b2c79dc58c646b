import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Result } from '../../../../../src/http-client/index.js'
import { client } from '../../../api/client.ts'
import { ActionDialog } from '../../../parts/action-dialog.tsx'
import { Button } from '../../../parts/button.tsx'
import { Failure } from '../../../parts/failure.tsx'
import { inputStyle } from '../../../parts/field.tsx'
import { Labelled } from '../../../parts/labelled.tsx'
import { Terminal } from '../../../parts/terminal.tsx'
import { useCurl } from '../../../parts/use-curl.ts'
import { count } from '../../../time/format.ts'
import { Moment } from '../../../time/moment.tsx'
import { fromWall, onWall } from '../../../time/wall.ts'
import { commandOf } from './command.ts'
import { apiPath, RENEWS, refusing, type VerbProps } from './verb.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

type Found = Result<'backfillSchedule'>

/** Runs plan times that were skipped: it first looks which, and then runs those. */
export function Backfill({ schedule: { name }, tell }: VerbProps) {
  const [range, setRange] = useState({ from: '', to: '' })
  const [found, setFound] = useState<Found | null>(null)
  const curl = useCurl()
  const body = { from: fromWall(range.from), to: fromWall(range.to) }
  const isGiven = body.from !== '' && body.to !== ''
  const look = useMutation({
    mutationFn: () => client.schedules.backfill(name, { ...body, dryRun: true }),
    onMutate: () => setFound(null),
    onSuccess: setFound,
  })
  // What was found is of one range.
  const change = (part: { from?: string; to?: string }) => {
    setRange({ ...range, ...part })
    setFound(null)
    look.reset()
  }
  const begin = () => {
    const now = Date.now()
    const at = (ms: number) => onWall(new Date(ms).toISOString())
    change({ from: at(now - DAY_MS), to: at(now + MINUTE_MS) })
  }
  async function fill() {
    const { runIds } = await client.schedules.backfill(name, body)
    tell({ done: `${count(runIds.length)} ${runIds.length === 1 ? 'run was' : 'runs were'} made.` })
  }
  const runs = found?.runIds.length ?? 0
  return (
    <ActionDialog
      opener="Backfill…"
      title={`Backfill ${name}`}
      verb={
        found === null || runs === 0 ? 'Run these' : runs === 1 ? 'Run this one' : `Run these ${count(runs)}`
      }
      action={fill}
      renews={RENEWS}
      onRefused={refusing(tell, 'Backfill')}
      onOpen={begin}
      isDisabled={runs === 0}
    >
      <p className="text-muted">
        Runs plan times of the past that were skipped, whatever for. None is run twice.
      </p>
      <div className="grid gap-4 sm:grid-cols-2">
        {(['from', 'to'] as const).map((field) => (
          <Labelled
            key={field}
            label={field === 'from' ? 'From' : 'To'}
            help={field === 'from' ? 'Inclusive; as on the wall here.' : 'Exclusive.'}
          >
            {(ids) => (
              <input
                {...ids}
                type="datetime-local"
                max="9999-12-31T23:59"
                className={inputStyle}
                value={range[field]}
                onChange={({ target }) => change({ [field]: target.value })}
              />
            )}
          </Labelled>
        ))}
      </div>
      <div>
        <Button disabled={!isGiven || look.isPending} onClick={() => look.mutate()}>
          Look which
        </Button>
      </div>
      <Failure error={look.error} what="Not looked:" />
      {found !== null && <FoundTimes found={found} />}
      <Terminal
        command={commandOf('backfill', [name], body)}
        curl={curl('POST', apiPath(name, '/backfill'), body)}
      />
    </ActionDialog>
  )
}

const SHOWN_TIMES = 100

function FoundTimes({ found: { planTimes, runIds } }: { found: Found }) {
  if (planTimes.length === 0) {
    return <p role="status">No plan time in that range was skipped, and has no run.</p>
  }
  const rest = planTimes.length - SHOWN_TIMES
  return (
    <div role="status" className="grid gap-1.5">
      <p className="font-medium">
        {count(planTimes.length)} {planTimes.length === 1 ? 'plan time' : 'plan times'} would run
        {runIds.length !== planTimes.length && `, in ${count(runIds.length)} runs`}:
      </p>
      <ul
        aria-label="Plan times that would run"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        tabIndex={0}
        className="flex max-h-32 flex-wrap gap-x-4 overflow-y-auto rounded-md border border-line bg-raised px-3 py-1.5 text-xs leading-5"
      >
        {planTimes.slice(0, SHOWN_TIMES).map((at) => (
          <li key={at}>
            <Moment at={at} show="exact" />
          </li>
        ))}
        {rest > 0 && <li>and {count(rest)} more</li>}
      </ul>
    </div>
  )
}
