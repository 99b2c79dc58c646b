import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useRef, useState } from 'react'
import { client, type Run } from '../../api/client.ts'
import { Button } from '../../parts/button.tsx'
import { Failure } from '../../parts/failure.tsx'
import { isOpen } from '../../runs/standing.ts'
import { CancelForm } from './cancel-form.tsx'

/**
 * What can be done with it in its state. A refusal mostly means that it is in another state already, which is then read; so
 * what was refused is told here, where it outlives the button.
 */
export function RunActions({ run }: { run: Run }) {
  const { id, state } = run
  const titleId = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const [refused, setRefused] = useState<Error | null>(null)
  const queryClient = useQueryClient()
  const renewed = {
    onMutate: () => setRefused(null),
    onError: (error: Error) => setRefused(error),
    onSettled() {
      dialog.current?.close()
      return queryClient.invalidateQueries({ queryKey: ['runs'] })
    },
  }
  const retry = useMutation({ ...renewed, mutationFn: () => client.runs.retry(id) })
  const cancel = useMutation({
    ...renewed,
    mutationFn: (reason: string) => client.runs.cancel(id, reason === '' ? {} : { reason }),
  })
  const canCancel = isOpen(run)
  if (state !== 'failed' && !canCancel && refused === null) return null
  return (
    <div className="grid gap-2">
      <Failure error={refused} what="Not done:" />
      {state === 'failed' && (
        <div>
          <Button kind="main" disabled={retry.isPending} onClick={() => retry.mutate()}>
            Retry
          </Button>
        </div>
      )}
      {canCancel && (
        <div>
          <Button onClick={() => dialog.current?.showModal()}>Cancel the run…</Button>
          <dialog
            ref={dialog}
            aria-labelledby={titleId}
            className="m-auto w-[min(32rem,calc(100vw-2rem))] rounded-lg border border-line bg-surface p-5 text-ink shadow-xl backdrop:bg-black/50"
          >
            <CancelForm
              id={id}
              titleId={titleId}
              isPending={cancel.isPending}
              onCancel={cancel.mutate}
              onLeave={() => dialog.current?.close()}
            />
          </dialog>
        </div>
      )}
    </div>
  )
}
