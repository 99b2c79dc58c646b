import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useId, useRef } from 'react'
import { Button, type ButtonKind } from './button.tsx'
import { Failure } from './failure.tsx'

export interface ActionDialogProps {
  /** On the button that opens it, with an ellipsis: it asks first. */
  opener: string
  title: string
  /** On the button that does it. */
  verb: string
  kind?: ButtonKind
  action: () => Promise<unknown>
  /** First words of the queries that it makes old. */
  renews: readonly string[]
  /** Where what is refused should be told, if the dialog cannot: because its button goes with the state that was refused. */
  onRefused?: (error: Error | null) => void
  onOpen?: () => void
  isDisabled?: boolean
  children?: ReactNode
}

/** Says what would happen, asks for what it needs, does it, and closes; what is refused is told in it. */
export function ActionDialog({
  opener,
  title,
  verb,
  kind = 'main',
  action,
  renews,
  onRefused,
  onOpen,
  isDisabled = false,
  children,
}: ActionDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  const queryClient = useQueryClient()
  const close = () => dialog.current?.close()
  const act = useMutation({
    mutationFn: action,
    onMutate: () => onRefused?.(null),
    onError: (error) => onRefused?.(error),
    onSettled(_done, error) {
      if (error === null || onRefused) close()
      return queryClient.invalidateQueries({
        predicate: ({ queryKey: [what] }) => renews.includes(String(what)),
      })
    },
  })
  const open = () => {
    act.reset()
    onOpen?.()
    dialog.current?.showModal()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    act.mutate()
  }
  return (
    <>
      <Button onClick={open}>{opener}</Button>
      <dialog
        ref={dialog}
        aria-labelledby={id}
        className="m-auto w-[min(32rem,calc(100vw-2rem))] rounded-lg border border-line bg-surface p-5 text-ink shadow-xl backdrop:bg-black/50"
      >
        <form onSubmit={submit} className="grid grid-cols-[minmax(0,1fr)] gap-4">
          <h2 id={id} className="font-semibold text-base">
            {title}
          </h2>
          {children}
          {!onRefused && <Failure error={act.error} what="Not done:" />}
          <div className="flex flex-wrap justify-end gap-2">
            <Button onClick={close}>Leave it</Button>
            <Button kind={kind} type="submit" disabled={isDisabled || act.isPending}>
              {verb}
            </Button>
          </div>
        </form>
      </dialog>
    </>
  )
}
