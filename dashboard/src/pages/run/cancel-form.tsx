import { type FormEvent, useId, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { CopyCommand } from '../../parts/copy-command.tsx'
import { inputStyle } from '../../parts/field.tsx'
import { quoted } from '../../parts/quoted.ts'

export interface CancelFormProps {
  id: string
  titleId: string
  isPending: boolean
  onCancel: (reason: string) => void
  onLeave: () => void
}

/** Asks why, for those who look later. */
export function CancelForm({ id, titleId, isPending, onCancel, onLeave }: CancelFormProps) {
  const fieldId = useId()
  const [typed, setTyped] = useState('')
  const reason = typed.trim()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onCancel(reason)
  }
  return (
    <form onSubmit={submit} className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <h2 id={titleId} className="font-semibold text-base">
        Cancel the run
      </h2>
      <p className="text-muted">It ends now. A handler that is at work on it is told, in whatever process.</p>
      <div className="grid gap-1.5">
        <label htmlFor={fieldId} className="font-medium">
          Reason
        </label>
        <input
          id={fieldId}
          className={inputStyle}
          value={typed}
          maxLength={1000}
          placeholder="The wrong customer"
          onChange={({ target }) => setTyped(target.value)}
        />
      </div>
      <CopyCommand command={`escapement runs cancel ${id}${reason && ` --reason ${quoted(reason)}`}`} />
      <div className="flex justify-end gap-2">
        <Button onClick={onLeave}>Leave it</Button>
        <Button kind="danger" type="submit" disabled={isPending}>
          Cancel the run
        </Button>
      </div>
    </form>
  )
}
