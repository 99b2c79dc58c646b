import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client, type Run } from '../../api/client.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { Button } from '../../parts/button.tsx'
import { Failure } from '../../parts/failure.tsx'
import { quoted } from '../../parts/quoted.ts'
import { ReasonField } from '../../parts/reason-field.tsx'
import { Terminal } from '../../parts/terminal.tsx'
import { useCurl } from '../../parts/use-curl.ts'
import { isOpen } from '../../runs/standing.ts'

/**
 * What can be done with it in its state. A refusal mostly means that it is in another state already, which is then read; so
 * what was refused is told here, where it outlives the button.
 */
export function RunActions({ run }: { run: Run }) {
  const [refused, setRefused] = useState<Error | null>(null)
  const canCancel = isOpen(run)
  if (run.state !== 'failed' && !canCancel && refused === null) return null
  return (
    <div className="grid gap-2">
      <Failure error={refused} what="Not done:" />
      {run.state === 'failed' && <Retry id={run.id} onRefused={setRefused} />}
      {canCancel && <Cancel id={run.id} onRefused={setRefused} />}
    </div>
  )
}

interface ActionProps {
  id: string
  onRefused: (error: Error | null) => void
}

function Retry({ id, onRefused }: ActionProps) {
  const queryClient = useQueryClient()
  const retry = useMutation({
    mutationFn: () => client.runs.retry(id),
    onMutate: () => onRefused(null),
    onError: onRefused,
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['runs'] }),
  })
  return (
    <div>
      <Button kind="main" disabled={retry.isPending} onClick={() => retry.mutate()}>
        Retry
      </Button>
    </div>
  )
}

function Cancel({ id, onRefused }: ActionProps) {
  const [typed, setTyped] = useState('')
  const reason = typed.trim()
  const body = reason === '' ? {} : { reason }
  const curl = useCurl()
  return (
    <div>
      <ActionDialog
        opener="Cancel the run…"
        title="Cancel the run"
        verb="Cancel the run"
        kind="danger"
        action={() => client.runs.cancel(id, body)}
        renews={['runs']}
        onRefused={onRefused}
      >
        <p className="text-muted">
          It ends now. A handler that is at work on it is told, in whatever process.
        </p>
        <ReasonField value={typed} onChange={setTyped} placeholder="The wrong customer" />
        <Terminal
          command={`escapement runs cancel ${id}${reason && ` --reason ${quoted(reason)}`}`}
          curl={curl('POST', `/runs/${id}/cancel`, body)}
        />
      </ActionDialog>
    </div>
  )
}
