import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useId, useRef, useState } from 'react'
import { client } from '../api/client.ts'
import { claimingQuery } from '../api/queries.ts'
import { Button } from '../parts/button.tsx'
import { CopyCommand } from '../parts/copy-command.tsx'
import { Failure } from '../parts/failure.tsx'
import { inputStyle } from '../parts/field.tsx'
import { quoted } from '../parts/quoted.ts'

/** Asks for a reason first: whoever finds it paused at night wants to know. */
export function PauseClaiming() {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  const [reason, setReason] = useState('')
  const queryClient = useQueryClient()
  const pause = useMutation({
    mutationFn: () => client.claiming.set({ paused: true, ...(reason.trim() && { reason: reason.trim() }) }),
    onSuccess(claiming) {
      queryClient.setQueryData(claimingQuery.queryKey, claiming)
      setReason('')
      dialog.current?.close()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    pause.mutate()
  }
  return (
    <>
      <Button onClick={() => dialog.current?.showModal()}>Pause claiming…</Button>
      <dialog
        ref={dialog}
        aria-labelledby={`${id}-title`}
        className="m-auto w-[min(28rem,calc(100vw-2rem))] rounded-lg border border-line bg-surface p-5 text-ink shadow-xl backdrop:bg-black/50"
      >
        <form onSubmit={submit} className="grid gap-4">
          <h2 id={`${id}-title`} className="font-semibold text-base">
            Pause claiming
          </h2>
          <p className="text-muted">
            No run is begun any more, in any process, until claiming is resumed. What runs goes on, and plan
            times are still recorded.
          </p>
          <div className="grid gap-1.5">
            <label htmlFor={id} className="font-medium">
              Reason
            </label>
            <input
              id={id}
              className={inputStyle}
              value={reason}
              maxLength={1000}
              placeholder="Maintenance of the mail server"
              onChange={({ target }) => setReason(target.value)}
            />
          </div>
          <CopyCommand
            command={`escapement claiming pause${reason.trim() && ` --reason ${quoted(reason.trim())}`}`}
          />
          {pause.error && <Failure error={pause.error} />}
          <div className="flex justify-end gap-2">
            <Button onClick={() => dialog.current?.close()}>Cancel</Button>
            <Button kind="danger" type="submit" disabled={pause.isPending}>
              Pause claiming
            </Button>
          </div>
        </form>
      </dialog>
    </>
  )
}
