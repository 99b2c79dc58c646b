import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { type BulkVerb, changeWhole, countChanges } from '../../../../src/http-client/bulk-pausing.js'
import { client } from '../../api/client.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { Failure } from '../../parts/failure.tsx'
import { ReasonField } from '../../parts/reason-field.tsx'
import { Terminal } from '../../parts/terminal.tsx'
import { useCurl } from '../../parts/use-curl.ts'
import { count } from '../../time/format.ts'
import { type BulkWord, bulkCommand, canChange, filterInWords } from './bulk-words.ts'
import type { Filter } from './use-filter.ts'

const WORDS = {
  pause: { these: 'Pause these…', title: 'Pause schedules', verb: 'Pause', done: 'paused' },
  resume: { these: 'Resume these…', title: 'Resume schedules', verb: 'Resume', done: 'resumed' },
} as const

/** Pauses and resumes all that the filter finds, on whatever page they are. */
export function BulkActions({ filter, onDone }: { filter: Filter; onDone: (told: string) => void }) {
  return (
    <div className="flex flex-wrap gap-2">
      {(['pause', 'resume'] as const)
        .filter((verb) => canChange(verb, filter))
        .map((verb) => (
          <BulkAction key={verb} verb={verb} filter={filter} onDone={onDone} />
        ))}
    </div>
  )
}

interface BulkActionProps {
  verb: BulkWord
  filter: Filter
  onDone: (told: string) => void
}

function BulkAction({ verb, filter, onDone }: BulkActionProps) {
  const [typed, setTyped] = useState('')
  const [changed, setChanged] = useState<number | null>(null)
  const words = WORDS[verb]
  const reason = typed.trim()
  const curl = useCurl()
  const act: BulkVerb = verb === 'pause' ? { verb, pause: reason === '' ? {} : { reason } } : { verb }
  const counting = useMutation({ mutationFn: () => countChanges(client, act, filter) })
  const total = counting.data
  return (
    <ActionDialog
      opener={words.these}
      title={words.title}
      verb={total ? `${words.verb} ${count(total)}` : words.verb}
      kind={verb === 'pause' ? 'danger' : 'main'}
      isDisabled={!total}
      onOpen={() => {
        setChanged(null)
        counting.mutate()
      }}
      // Where it fails midway, what was done stays told.
      action={async () => {
        const all = await changeWhole(client, act, filter, setChanged)
        setChanged(null)
        onDone(`${all === 1 ? '1 schedule was' : `${count(all)} schedules were`} ${words.done}.`)
      }}
      renews={['schedules', 'stats', 'forecast']}
    >
      <Which filter={filter} />
      <div aria-live="polite" className="text-muted">
        {changed !== null
          ? `${count(changed)} of ${count(Math.max(changed, total ?? 0))} ${words.done}.`
          : counting.isPending
            ? 'Counting…'
            : total !== undefined && tellTotal(verb, total)}
      </div>
      <Failure error={counting.error} what="Not counted:" />
      {verb === 'pause' && (
        <ReasonField value={typed} onChange={setTyped} placeholder="Their mail server is down" />
      )}
      <Terminal
        command={bulkCommand(verb, filter, reason)}
        curl={curl('POST', `/schedules/${verb}`, { filter, ...(act.verb === 'pause' && act.pause) })}
      >
        By curl it is done in portions: send the <code>nextPageToken</code> of the answer as{' '}
        <code>pageToken</code>, until it is null.
      </Terminal>
    </ActionDialog>
  )
}

function Which({ filter }: { filter: Filter }) {
  const words = filterInWords(filter)
  if (words !== undefined) return <p>The schedules {words}, on all pages.</p>
  return (
    <p className="rounded-md bg-warn-tint px-3 py-2 text-warn">
      <strong className="font-semibold">All schedules.</strong> No filter is set: this is for every one there
      is.
    </p>
  )
}

function tellTotal(verb: BulkWord, total: number): string {
  const rest =
    verb === 'pause'
      ? 'Those that are paused or finished stay as they are. Runs that exist go on.'
      : 'Those whose gate is closed stay as they are. Each goes on with its next plan time to come.'
  if (total === 0) return `None of them can be ${WORDS[verb].done}.`
  return `${total === 1 ? 'One' : count(total)} will be ${WORDS[verb].done}. ${rest}`
}
